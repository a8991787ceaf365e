/** Prints a row of a Markdown table, as RESULTS.md has it. */
export function printRow(...cells: readonly string[]): void {
  console.log(`| ${cells.join(' | ')} |`);
}

export function printHead(...cells: readonly string[]): void {
  printRow(...cells);
  printRow(...cells.map(() => '---'));
}
