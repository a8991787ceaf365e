/** The measurements of bench/RESULTS.md. The first section of a name counts. */
export class Results {
  readonly #sections: readonly { readonly name: string; readonly text: string }[];

  /** @param page bench/RESULTS.md as text. */
  constructor(page: string) {
    const [, ...sections] = page.split(/^#+ /m);
    this.#sections = sections.map((section) => {
      const [name = '', ...lines] = section.split('\n');
      return { name, text: lines.join('\n') };
    });
  }

  /**
   * The text of a cell, named by the heading of its section, the first cell of its row, and the
   * head of its column. `table` is the index of the table in the section. Throws if it is missing.
   */
  cell(section: string, row: string, column: string, table = 0): string {
    const [head = [], , ...rows] = tablesIn(this.#textOf(section))[table] ?? [];
    const cells = rows.find(([first]) => first === row);
    const cell = cells?.[head.indexOf(column)];
    if (cell === undefined) throw missing(`cell "${column}" of "${row}" in "${section}"`);
    return cell;
  }

  hasRow(section: string, row: string): boolean {
    return tablesIn(this.#textOf(section)).some((rows) => rows.some(([first]) => first === row));
  }

  /** The number at the start of a cell. Throws if it is missing. */
  number(section: string, row: string, column: string): number {
    const text = this.cell(section, row, column);
    const number = Number.parseFloat(text.replaceAll(',', ''));
    if (Number.isNaN(number)) throw missing(`number in "${column}" of "${row}" in "${section}"`);
    return number;
  }

  /** What the groups of a pattern match in the text of a section. Throws without a match. */
  match(section: string, pattern: RegExp): string[] {
    const found = pattern.exec(this.#textOf(section));
    if (found === null) throw missing(`match of ${pattern} in "${section}"`);
    return found.slice(1);
  }

  #textOf(section: string): string {
    const found = this.#sections.find(({ name }) => name === section);
    if (found === undefined) throw missing(`section "${section}"`);
    return found.text;
  }
}

function tablesIn(text: string): string[][][] {
  return [...text.matchAll(/(?:^\|.*\n)+/gm)].map(([table]) => rowsOf(table));
}

function rowsOf(table: string): string[][] {
  const lines = table.trimEnd().split('\n');
  return lines.map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

function missing(what: string): Error {
  return new Error(`bench/RESULTS.md has no ${what}. Correct its name in scripts/docs/figures/.`);
}
