"""Calls by aiortc: says a tone, measures what comes back, prints it as JSON, and hangs up.

Usage: aiortc_call.py EDGE HEADERS_AS_JSON TONE_HZ OTHER_HZ
"""

import asyncio
import fractions
import json
import math
import struct
import sys
import time
import urllib.request

from aiortc import MediaStreamTrack, RTCPeerConnection, RTCSessionDescription
from av import AudioFrame

RATE = 48_000
FRAME = 960
AMPLITUDE = 8_000
WINDOW = RATE // 5
TONE_HEARD = 0.8


class Tone(MediaStreamTrack):
    """A sine in frames of 20 ms, in real time."""

    kind = "audio"

    def __init__(self, hz):
        super().__init__()
        self.hz = hz
        self.at = 0
        self.start = time.monotonic()

    async def recv(self):
        await asyncio.sleep(max(0, self.start + self.at / RATE - time.monotonic()))
        step = 2 * math.pi * self.hz / RATE
        samples = [round(AMPLITUDE * math.sin(step * (self.at + i))) for i in range(FRAME)]
        frame = AudioFrame(format="s16", layout="mono", samples=FRAME)
        frame.planes[0].update(struct.pack(f"<{FRAME}h", *samples))
        frame.sample_rate = RATE
        frame.pts = self.at
        frame.time_base = fractions.Fraction(1, RATE)
        self.at += FRAME
        return frame


def tone_share(samples, hz):
    """Share of the power at that frequency (Goertzel)."""
    energy = sum(s * s for s in samples)
    if energy == 0:
        return 0
    coefficient = 2 * math.cos(2 * math.pi * hz / RATE)
    last = before = 0.0
    for sample in samples:
        last, before = sample + coefficient * last - before, last
    power = last * last + before * before - coefficient * last * before
    return min(1, 2 * power / (len(samples) * energy))


def request(method, url, headers, body=None):
    """The response's status, headers and text."""
    wanted = urllib.request.Request(url, data=body, headers=headers, method=method)
    with urllib.request.urlopen(wanted) as response:
        return response.status, response.headers, response.read().decode()


async def call(edge, headers, hz, other):
    """Calls and returns what was heard."""
    peer = RTCPeerConnection()
    peer.addTrack(Tone(hz))
    channel = peer.createDataChannel("oai-events")
    loop = asyncio.get_running_loop()
    remote, echoed = loop.create_future(), loop.create_future()
    peer.on("track", remote.set_result)
    channel.on("open", lambda: channel.send("from aiortc"))
    channel.on("message", lambda message: echoed.done() or echoed.set_result(message))
    await peer.setLocalDescription(await peer.createOffer())
    status, answered, answer = request(
        "POST",
        edge + "/v1/calls",
        {"content-type": "application/sdp", **headers},
        peer.localDescription.sdp.encode(),
    )
    assert status == 201, answer
    await peer.setRemoteDescription(RTCSessionDescription(answer, "answer"))
    track = await remote
    heard, share = [], 0
    while share < TONE_HEARD:
        frame = await track.recv()
        step = len(frame.layout.channels)
        data = bytes(frame.planes[0])[: frame.samples * 2 * step]
        heard += struct.unpack(f"<{frame.samples * step}h", data)[::step]
        heard = heard[-WINDOW:]
        if len(heard) == WINDOW:
            share = tone_share(heard, hz)
    message = await echoed
    request("DELETE", edge + answered["location"], headers)
    await peer.close()
    return {
        "toneShare": share,
        "otherShare": tone_share(heard, other),
        "dataEchoed": message == "from aiortc",
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(call(sys.argv[1], json.loads(sys.argv[2]), *map(int, sys.argv[3:])))))
