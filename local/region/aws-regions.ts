/**
 * Regions of AWS that Global Accelerator has endpoints in, by
 * https://docs.aws.amazon.com/global-accelerator/latest/dg/preserve-client-ip-address.regions.html; any other can be
 * added by its latitude, longitude and zones. Coordinates are those of the place that each is named for. Zones are as
 * https://github.com/getmoto/moto has them of an account, and a to c where it has none: since letters differ between
 * accounts, `aws ec2 describe-availability-zones` has the last word, and `--azs` takes it.
 */

export interface AwsRegion {
  readonly place: string;
  readonly latitude: number;
  readonly longitude: number;
  /** Letters of its zones. */
  readonly zones: string;
}

const region = (place: string, latitude: number, longitude: number, zones = 'abc'): AwsRegion => ({
  place,
  latitude,
  longitude,
  zones,
});

export const AWS_REGIONS: Readonly<Record<string, AwsRegion>> = {
  'af-south-1': region('Cape Town', -33.92, 18.42),
  'ap-east-1': region('Hong Kong', 22.32, 114.17),
  'ap-northeast-1': region('Tokyo', 35.68, 139.69, 'acd'),
  'ap-northeast-2': region('Seoul', 37.57, 126.98, 'abcd'),
  'ap-northeast-3': region('Osaka', 34.69, 135.5),
  'ap-south-1': region('Mumbai', 19.08, 72.88),
  'ap-south-2': region('Hyderabad', 17.39, 78.49),
  'ap-southeast-1': region('Singapore', 1.35, 103.82),
  'ap-southeast-2': region('Sydney', -33.87, 151.21),
  'ap-southeast-3': region('Jakarta', -6.21, 106.85),
  'ap-southeast-4': region('Melbourne', -37.81, 144.96),
  'ap-southeast-5': region('Malaysia', 3.14, 101.69),
  'ca-central-1': region('Montreal', 45.5, -73.57, 'abd'),
  'ca-west-1': region('Calgary', 51.05, -114.07),
  'eu-central-1': region('Frankfurt', 50.11, 8.68),
  'eu-central-2': region('Zurich', 47.38, 8.54),
  'eu-north-1': region('Stockholm', 59.33, 18.07),
  'eu-south-1': region('Milan', 45.46, 9.19),
  'eu-south-2': region('Aragon', 41.65, -0.89),
  'eu-west-1': region('Dublin', 53.35, -6.26),
  'eu-west-2': region('London', 51.51, -0.13),
  'eu-west-3': region('Paris', 48.86, 2.35),
  'il-central-1': region('Tel Aviv', 32.08, 34.78),
  'me-central-1': region('United Arab Emirates', 25.2, 55.27),
  'me-south-1': region('Bahrain', 26.07, 50.55),
  'sa-east-1': region('São Paulo', -23.55, -46.63),
  'us-east-1': region('Northern Virginia', 38.95, -77.45, 'abcdef'),
  'us-east-2': region('Ohio', 39.96, -83.0),
  'us-west-1': region('Northern California', 37.35, -121.96, 'ac'),
  'us-west-2': region('Oregon', 45.84, -119.69, 'abcd'),
};
