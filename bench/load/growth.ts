/** How fast something grows, from readings that jump. */

/**
 * The median of the slopes between all pairs of points (Theil–Sen), which a jump here and there does not move.
 *
 * @param points Pairs of x and y. @returns y per x; 0 of fewer than two points.
 */
export function growthRate(points: readonly (readonly [number, number])[]): number {
  const slopes = points.flatMap(([x1, y1], i) =>
    points.slice(i + 1).map(([x2, y2]) => (y2 - y1) / (x2 - x1)),
  );
  return slopes.toSorted((a, b) => a - b)[Math.floor(slopes.length / 2)] ?? 0;
}
