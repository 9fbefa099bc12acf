/** The media type without its parameters, in lower case; empty when there is none. */
export function mediaType({ headers }: Request | Response): string {
  return (headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase();
}
