// Calls by Pion: says a tone in PCMU, measures what comes back, prints it as JSON, and hangs up.
//
// Usage: pion-call EDGE HEADERS_AS_JSON TONE_HZ OTHER_HZ
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/pion/webrtc/v3"
	"github.com/pion/webrtc/v3/pkg/media"
)

const (
	rate      = 8000
	frame     = rate / 50
	amplitude = 8000
	window    = rate / 5
	heard     = 0.8
	text      = "from Pion"
)

// The logarithmic code of G.711.
func encode(sample int) byte {
	sign := byte(0)
	if sample < 0 {
		sign, sample = 0x80, -sample
	}
	sample = min(sample, 32635) + 0x84
	exponent := 7
	for mask := 0x4000; sample&mask == 0 && exponent > 0; mask >>= 1 {
		exponent--
	}
	return ^(sign | byte(exponent<<4) | byte(sample>>(exponent+3)&0x0f))
}

func decode(code byte) float64 {
	code = ^code
	value := (int(code&0x0f)<<3+0x84)<<(code>>4&7) - 0x84
	if code&0x80 != 0 {
		value = -value
	}
	return float64(value)
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

// The share of the power at that frequency, by the Goertzel algorithm.
func toneShare(samples []float64, hz float64) float64 {
	coefficient := 2 * math.Cos(2*math.Pi*hz/rate)
	var last, before, energy float64
	for _, sample := range samples {
		last, before = sample+coefficient*last-before, last
		energy += sample * sample
	}
	if energy == 0 {
		return 0
	}
	power := last*last + before*before - coefficient*last*before
	return math.Min(1, 2*power/(float64(len(samples))*energy))
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func request(method, url, body string, headers map[string]string) (*http.Response, string) {
	wanted, err := http.NewRequest(method, url, strings.NewReader(body))
	must(err)
	for name, value := range headers {
		wanted.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(wanted)
	must(err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	must(err)
	if response.StatusCode >= 300 {
		log.Fatalf("%s: %s", response.Status, content)
	}
	return response, string(content)
}

func say(track *webrtc.TrackLocalStaticSample, hz float64) {
	at := 0
	for range time.Tick(20 * time.Millisecond) {
		payload := make([]byte, frame)
		for i := range payload {
			payload[i] = encode(int(amplitude * math.Sin(2*math.Pi*hz*float64(at)/rate)))
			at++
		}
		if track.WriteSample(media.Sample{Data: payload, Duration: 20 * time.Millisecond}) != nil {
			return
		}
	}
}

func main() {
	edge := os.Args[1]
	headers := map[string]string{}
	must(json.Unmarshal([]byte(os.Args[2]), &headers))
	hz, err := strconv.ParseFloat(os.Args[3], 64)
	must(err)
	other, err := strconv.ParseFloat(os.Args[4], 64)
	must(err)

	engine := &webrtc.MediaEngine{}
	capability := webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypePCMU, ClockRate: rate}
	parameters := webrtc.RTPCodecParameters{RTPCodecCapability: capability, PayloadType: 0}
	must(engine.RegisterCodec(parameters, webrtc.RTPCodecTypeAudio))
	peer, err := webrtc.NewAPI(webrtc.WithMediaEngine(engine)).NewPeerConnection(webrtc.Configuration{})
	must(err)
	track, err := webrtc.NewTrackLocalStaticSample(capability, "audio", "pion")
	must(err)
	_, err = peer.AddTrack(track)
	must(err)
	channel, err := peer.CreateDataChannel("oai-events", nil)
	must(err)
	echoes := make(chan string, 1)
	channel.OnOpen(func() { must(channel.SendText(text)) })
	channel.OnMessage(func(message webrtc.DataChannelMessage) { echoes <- string(message.Data) })
	sound := make(chan []float64)
	peer.OnTrack(func(remote *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		var samples []float64
		for toneShare(samples, hz) < heard || len(samples) < window {
			packet, _, err := remote.ReadRTP()
			must(err)
			for _, code := range packet.Payload {
				samples = append(samples, decode(code))
			}
			if len(samples) > window {
				samples = samples[len(samples)-window:]
			}
		}
		sound <- samples
	})

	offer, err := peer.CreateOffer(nil)
	must(err)
	gathered := webrtc.GatheringCompletePromise(peer)
	must(peer.SetLocalDescription(offer))
	<-gathered
	headers["content-type"] = "application/sdp"
	response, answer := request("POST", edge+"/v1/calls", peer.LocalDescription().SDP, headers)
	must(peer.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer}))
	go say(track, hz)

	samples, echo := <-sound, <-echoes
	request("DELETE", edge+response.Header.Get("location"), "", headers)
	// The server has said goodbye already, which Close reports as a fault.
	_ = peer.Close()
	result, err := json.Marshal(map[string]interface{}{
		"toneShare":  toneShare(samples, hz),
		"otherShare": toneShare(samples, other),
		"dataEchoed": echo == text,
	})
	must(err)
	fmt.Println(string(result))
}
