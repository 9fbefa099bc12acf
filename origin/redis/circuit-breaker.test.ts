import { describe, expect, it } from 'vitest';
import { BREAKER_FAILURES, BREAKER_PAUSE, CircuitBreaker } from './circuit-breaker.ts';

/** A breaker that opened at time 0. */
function opened(): CircuitBreaker {
  const breaker = new CircuitBreaker();
  for (let i = 0; i < BREAKER_FAILURES; i++) breaker.failed(0);
  return breaker;
}

describe('A circuit breaker', () => {
  it('opens with enough failures in a row, and says when', () => {
    const breaker = new CircuitBreaker();
    const results = Array.from({ length: BREAKER_FAILURES }, () => breaker.failed(0));
    expect(results).toEqual([false, false, true]);
    expect(breaker.state(0)).toBe('open');
    expect(breaker.admit(0)).toBe(false);
  });

  it('stays closed when a success lies between', () => {
    const breaker = new CircuitBreaker();
    for (let i = 0; i < 10; i++) {
      breaker.failed(0);
      breaker.failed(0);
      breaker.succeeded();
    }
    expect(breaker.state(0)).toBe('closed');
    expect(breaker.admit(0)).toBe(true);
  });

  it('lets one request through after its pause', () => {
    const breaker = opened();
    expect(breaker.admit(BREAKER_PAUSE - 1)).toBe(false);
    expect(breaker.state(BREAKER_PAUSE)).toBe('half-open');
    expect(breaker.admit(BREAKER_PAUSE)).toBe(true);
    expect(breaker.admit(BREAKER_PAUSE)).toBe(false);
  });

  it('closes when that one succeeds', () => {
    const breaker = opened();
    breaker.admit(BREAKER_PAUSE);
    breaker.succeeded();
    expect(breaker.state(BREAKER_PAUSE)).toBe('closed');
  });

  it('opens for another pause when that one fails', () => {
    const breaker = opened();
    breaker.admit(BREAKER_PAUSE);
    expect(breaker.failed(BREAKER_PAUSE)).toBe(true);
    expect(breaker.admit(2 * BREAKER_PAUSE - 1)).toBe(false);
    expect(breaker.admit(2 * BREAKER_PAUSE)).toBe(true);
  });

  it('does not prolong its pause for requests sent before it opened', () => {
    const breaker = opened();
    expect(breaker.failed(BREAKER_PAUSE - 1)).toBe(false);
    expect(breaker.admit(BREAKER_PAUSE)).toBe(true);
  });

  it('tries at once when there is reason to hope', () => {
    const breaker = opened();
    breaker.retry();
    expect(breaker.state(0)).toBe('half-open');
    expect(breaker.admit(0)).toBe(true);
  });
});
