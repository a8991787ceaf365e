/** A row of a Markdown table. */
export const tableRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** A Markdown table with labels in the first column and figures, aligned right, in all others. */
export function figureTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = `|---|${'--:|'.repeat(head.length - 1)}`;
  return [tableRow(head), rule, ...rows.map(tableRow)].join('\n');
}
