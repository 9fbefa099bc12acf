import { describe, expect, it } from 'vitest';
import { ABSENCE, AbsentFlows } from './absent-flows.ts';

describe('Absent flows', () => {
  it('are remembered for a moment', () => {
    const absent = new AbsentFlows();
    absent.add('a', 0);
    expect(absent.has('a', ABSENCE - 1)).toBe(true);
    expect(absent.has('a', ABSENCE)).toBe(false);
    expect(absent.has('b', 0)).toBe(false);
  });

  it('are remembered from the last time', () => {
    const absent = new AbsentFlows();
    absent.add('a', 0);
    absent.add('b', 1);
    absent.add('a', ABSENCE - 1);
    absent.add('c', ABSENCE);
    expect(absent.has('a', ABSENCE)).toBe(true);
  });

  it('are forgotten when they are kept after all', () => {
    const absent = new AbsentFlows();
    absent.add('a', 0);
    absent.delete('a');
    expect(absent.has('a', 0)).toBe(false);
  });

  it('are no more than the limit: the oldest go', () => {
    const absent = new AbsentFlows(2);
    for (const name of ['a', 'b', 'c']) absent.add(name, 0);
    expect(['a', 'b', 'c'].map((name) => absent.has(name, 0))).toEqual([false, true, true]);
  });
});
