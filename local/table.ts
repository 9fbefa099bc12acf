/** Tables for people: columns of equal width, numbers to the right. */

const NUMBER = /^-?\d+(\.\d+)?$/;

/** @param rows All of one length; the first one is the header. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const [header = []] = rows;
  const columns = header.map((_, i) => rows.map((row) => row[i]!));
  const widths = columns.map((cells) => Math.max(...cells.map((cell) => cell.length)));
  const numeric = columns.map((cells) => cells.slice(1).every((cell) => NUMBER.test(cell)));
  return rows
    .map((row) =>
      row
        .map((cell, i) => (numeric[i] ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
