/**
 * Where Cloudflare’s colos are: the city each is named for, to a tenth of a degree, out of GeoNames
 * (https://www.geonames.org, CC BY 4.0). A colo that is not here is simply unknown.
 */
import type { Coordinates } from './sphere.ts';

/** IATA code, latitude, longitude. */
const COLOS = `
ABJ 5.4 -4, ACC 5.6 -0.2, ADD 9 38.7, ADL -34.9 138.6, AKL -36.8 174.8, ALA 43.3 76.9,
ALG 36.7 3.1, AMD 23 72.6, AMM 32 35.9, AMS 52.4 4.9, ANC 61.2 -149.9, ARN 59.3 18.1,
ASU -25.3 -57.6, ATH 38 23.7, ATL 33.7 -84.4, BAH 26.2 50.6, BCN 41.4 2.2, BEG 44.8 20.5,
BEY 33.9 35.5, BGW 33.3 44.4, BKK 13.8 100.5, BLR 13 77.6, BNE -27.5 153, BOG 4.6 -74.1,
BOM 19.1 72.9, BOS 42.4 -71.1, BRU 50.9 4.3, BSB -15.8 -47.9, BTS 48.1 17.1, BUD 47.5 19,
CAI 30.1 31.2, CAN 23.1 113.3, CBR -35.3 149.1, CCS 10.5 -66.9, CCU 22.6 88.4, CDG 48.9 2.3,
CEB 10.3 123.9, CGK -6.2 106.8, CHC -43.5 172.6, CLT 35.2 -80.8, CMB 6.9 79.8, CMN 33.6 -7.6,
COR -31.4 -64.2, CPH 55.7 12.6, CPT -33.9 18.4, CWB -25.4 -49.3, DAC 23.7 90.4,
DAR -6.8 39.3, DEL 28.7 77.2, DEN 39.7 -105, DFW 32.8 -96.8, DKR 14.7 -17.4, DME 55.8 37.6,
DOH 25.3 51.5, DTW 42.3 -83, DUB 53.3 -6.2, DUR -29.9 31, DUS 51.2 6.8, DXB 25.1 55.3,
EBB 0.3 32.6, EDI 56 -3.2, EVN 40.2 44.5, EWR 40.7 -74.2, EZE -34.6 -58.4, FCO 41.9 12.5,
FIH -4.3 15.3, FOR -3.7 -38.5, FRA 50.1 8.7, FUK 33.6 130.4, GBE -24.7 25.9, GDL 20.7 -103.4,
GIG -22.9 -43.2, GOT 57.7 12, GRU -23.5 -46.6, GUA 14.6 -90.5, GUM 13.5 144.8, GVA 46.2 6.1,
GYD 40.4 49.9, HAM 53.6 10, HAN 21 105.8, HBA -42.9 147.3, HEL 60.2 24.9, HKG 22.3 114.2,
HNL 21.3 -157.9, HRE -17.8 31.1, HYD 17.4 78.5, IAD 39 -77.5, IAH 29.8 -95.4, ICN 37.6 127,
ISB 33.7 73, IST 41 28.9, JED 21.5 39.2, JFK 40.7 -74, JIB 11.6 43.1, JNB -26.2 28,
KBP 50.5 30.5, KEF 64.1 -21.9, KGL -1.9 30.1, KHI 24.9 67, KIN 18 -76.8, KIV 47 28.9,
KIX 34.7 135.5, KTM 27.7 85.3, KUL 3.1 101.7, KWI 29.4 48, LAD -8.8 13.2, LAS 36.2 -115.1,
LAX 34.1 -118.2, LCA 35.2 33.4, LED 59.9 30.3, LHE 31.6 74.4, LHR 51.5 -0.1, LIM -12 -77,
LIS 38.7 -9.1, LJU 46.1 14.5, LOS 6.5 3.4, LPB -16.5 -68.2, LUN -15.4 28.3, LUX 49.6 6.1,
LYS 45.7 4.8, MAA 13.1 80.3, MAD 40.4 -3.7, MAN 53.5 -2.2, MAO -3.1 -60, MBA -4.1 39.7,
MCI 39.1 -94.6, MCT 23.6 58.4, MDE 6.3 -75.6, MEL -37.8 145, MEX 19.4 -99.1, MFM 22.2 113.5,
MIA 25.8 -80.2, MLA 35.9 14.5, MLE 4.2 73.5, MNL 14.6 121, MPM -26 32.6, MRS 43.3 5.4,
MRU -20.2 57.5, MSP 45 -93.3, MTY 25.7 -100.3, MUC 48.1 11.6, MVD -34.9 -56.2, MXP 45.5 9.2,
NBO -1.3 36.8, NOU -22.3 166.4, NRT 35.7 139.7, OKA 26.2 127.7, ORD 41.9 -87.7,
OSL 59.9 10.7, OTP 44.4 26.1, PDX 45.5 -122.7, PEK 39.9 116.4, PER -32 115.9, PHL 40 -75.2,
PHX 33.4 -112.1, PMO 38.1 13.3, PNH 11.6 104.9, POA -30 -51.2, POS 10.7 -61.5,
PPT -17.5 -149.6, PRG 50.1 14.4, PTY 9 -79.5, QRO 20.6 -100.4, REC -8.1 -34.9, RGN 16.8 96.2,
RIX 56.9 24.1, RUH 24.7 46.7, SCL -33.5 -70.6, SDQ 18.5 -69.9, SEA 47.6 -122.3,
SFO 37.8 -122.4, SGN 10.8 106.6, SHA 31.2 121.5, SIN 1.3 103.9, SJC 37.3 -121.9,
SJO 9.9 -84.1, SJU 18.5 -66.1, SKG 40.6 22.9, SKP 42 21.4, SLC 40.8 -111.9, SOF 42.7 23.3,
SSA -13 -38.5, STL 38.6 -90.2, STR 48.8 9.2, SUV -18.1 178.4, SYD -33.9 151.2, TAS 41.3 69.2,
TBS 41.7 44.8, TIA 41.3 19.8, TLL 59.4 24.8, TLV 32.1 34.8, TNR -18.9 47.5, TPA 27.9 -82.5,
TPE 25 121.5, TUN 36.8 10.2, TXL 52.5 13.4, UIO -0.2 -78.5, ULN 47.9 106.9, VIE 48.2 16.4,
VNO 54.7 25.3, VTE 18 102.6, WAW 52.2 21, WDH -22.6 17.1, YHZ 44.6 -63.6, YUL 45.5 -73.6,
YVR 49.2 -123.1, YWG 49.9 -97.1, YYC 51.1 -114.1, YYZ 43.7 -79.4, ZAG 45.8 16, ZRH 47.4 8.6
`;

const places = new Map<string, Coordinates>(
  COLOS.trim()
    .split(/,\s*/)
    .map((entry) => {
      const [code, latitude, longitude] = entry.trim().split(' ');
      return [code!, [Number(latitude), Number(longitude)]];
    }),
);

/** @param colo IATA code. */
export function coloCoordinates(colo: string): Coordinates | undefined {
  return places.get(colo);
}
