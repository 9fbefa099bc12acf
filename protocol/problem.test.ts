import { describe, expect, test } from 'vitest';
import { problem, problemResponse, unauthorized } from './problem.ts';

describe('problems', () => {
  test('carry type, title, status and detail', () => {
    expect(problem('no-capacity', 'all 3 clusters are full')).toEqual({
      type: 'urn:global-relay:problem:no-capacity',
      title: 'No cluster can take a call now',
      status: 503,
      detail: 'all 3 clusters are full',
    });
  });

  test('answer as application/problem+json with the headers of the caller', async () => {
    const response = problemResponse('no-capacity', 'full', { 'Retry-After': '2' });
    expect(response.status).toBe(503);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(response.headers.get('retry-after')).toBe('2');
    expect(await response.json()).toEqual(problem('no-capacity', 'full'));
  });

  test('ask for a bearer token where one is missing', () => {
    const response = problemResponse('unauthorized', 'x');
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
  });

  test.each([
    [undefined, 'Bearer'],
    [null, 'Bearer'],
    ['', 'Bearer'],
    ['Bearer', 'Bearer'],
    ['Bearer ', 'Bearer'],
    ['Basic YTpi', 'Bearer'],
    ['Bearer x', 'Bearer error="invalid_token"'],
    ['bearer  x', 'Bearer error="invalid_token"'],
    ['Bearer a b', 'Bearer error="invalid_token"'],
  ])('tell a token that is not good from none: %j', async (authorization, challenge) => {
    const response = unauthorized('x', authorization);
    expect(response.headers.get('www-authenticate')).toBe(challenge);
    expect(await response.json()).toEqual(problem('unauthorized', 'x'));
  });

  test('keep their content type, however the caller spells his own', () => {
    const response = problemResponse('internal', 'x', { 'Content-Type': 'text/html' });
    expect(response.headers.get('content-type')).toBe('application/problem+json');
  });
});
