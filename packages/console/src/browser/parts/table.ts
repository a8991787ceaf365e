import { type ComponentChildren, h } from 'preact';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Figures stand at the right, under each other. */
  readonly figure?: boolean;
  /** The column that says what the row is about. */
  readonly names?: boolean;
}

interface TableProps<Row> {
  /** What the table has, for people who do not see where it stands. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  /** Shown without rows. */
  readonly empty: ComponentChildren;
  /** Marks a row. */
  readonly toneOf?: (row: Row) => 'good' | 'warn' | 'bad' | undefined;
}

/** Scrolls sideways by itself where it is wider than the screen, with the keyboard too. */
export function Table<Row>({ caption, columns, rows, keyOf, empty, toneOf }: TableProps<Row>) {
  if (rows.length === 0) return h('p', { class: 'empty' }, empty);
  return h('div', { class: 'table', tabIndex: 0, role: 'region', 'aria-label': caption }, [
    h('table', null, [
      h('caption', { class: 'unseen' }, caption),
      h('thead', null, [
        h(
          'tr',
          null,
          columns.map(({ title, figure }) =>
            h('th', { key: title, scope: 'col', class: figure ? 'figure' : undefined }, title),
          ),
        ),
      ]),
      h(
        'tbody',
        null,
        rows.map((row) =>
          h(
            'tr',
            { key: keyOf(row), class: toneOf?.(row) },
            columns.map(({ title, cell, figure, names }) =>
              h(
                names ? 'th' : 'td',
                {
                  key: title,
                  scope: names ? 'row' : undefined,
                  class: figure ? 'figure' : undefined,
                  'data-title': title,
                },
                cell(row),
              ),
            ),
          ),
        ),
      ),
    ]),
  ]);
}
