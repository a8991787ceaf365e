import {
  fromNow,
  number,
  operationText,
  percent,
} from '@storegate/admin-api/text';
import { type ComponentChildren, h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { bytes, clockTime } from '../format.ts';
import { linkTo } from '../routing.ts';

// How data is shown: tables, facts, and what stands in their cells.

export type Tone = 'good' | 'warn' | 'bad' | 'plain';

/**
 * Figures stand at the right, under each other; the column that names says what the row is about.
 */
export type Column<Row> = readonly [
  title: string,
  cell: (row: Row) => ComponentChildren,
  look?: 'figure' | 'names' | undefined,
];

const columnOf =
  <Value>(show: (value: Value) => ComponentChildren, look?: 'figure') =>
  <Name extends string>(
    title: string,
    name: Name,
  ): Column<{ readonly [field in Name]?: Value }> => [
    title,
    (row) => show(row[name] as Value),
    look,
  ];

// Columns of one field, by what the field holds; `null` is a dash.
export const textColumn = columnOf((text: ComponentChildren) => text);
export const countColumn = columnOf(number, 'figure');
export const bytesColumn = columnOf(bytes, 'figure');
/** Moments, RFC 3339. */
export const timeColumn = columnOf((at: string | null) => h(Time, { at }));
/** Moments as the time that has passed since. */
export const ageColumn = columnOf((at: string | null) =>
  h(Time, { at, relative: true }),
);
/** Keys or accounts. */
export const clientColumn = columnOf((who: string | null | undefined) =>
  h(ClientLink, { who }),
);
export const planColumn = columnOf((plan: string | null | undefined) =>
  plan ? planLink(plan) : '–',
);
export const operationColumn = columnOf(
  (operation: string | null | undefined) =>
    operation ? operationText(operation) : '–',
);
export const codeColumn = columnOf((code: string) => h('code', null, code));
export const reasonColumn = columnOf((reason: string | null) =>
  reason === null ? '–' : h('span', { class: 'reason' }, reason),
);

/** The column that says what the row is about. */
export const rowHeader = <Row>([title, cell]: Column<Row>): Column<Row> => [
  title,
  cell,
  'names',
];

interface TableProps<Row> {
  /** What the table has, for people who do not see where it stands. */
  readonly caption: string;
  /** Those that are false are left out. */
  readonly columns: readonly (Column<Row> | false)[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  /** Shown without rows. */
  readonly empty?: ComponentChildren;
  /** Marks a row. */
  readonly toneOf?: (row: Row) => Tone | undefined;
  /** The sum of all rows, whose figures are below them. */
  readonly total?: Row | undefined;
}

/** Scrolls sideways by itself where it is wider than the screen, with the keyboard too. */
export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
  empty,
  toneOf,
  total,
}: TableProps<Row>) {
  if (rows.length === 0) return h('p', { class: 'empty' }, empty);
  const shown = columns.filter((column) => column !== false);
  const classOf = (look: Column<Row>[2]) =>
    look === 'figure' ? look : undefined;
  const head = shown.map(([title, , look]) =>
    h('th', { key: title, scope: 'col', class: classOf(look) }, title),
  );
  const cellsOf = (row: Row) =>
    shown.map(([title, cell, look]) => {
      const own = { key: title, class: classOf(look), 'data-title': title };
      return look === 'names'
        ? h('th', { scope: 'row', ...own }, cell(row))
        : h('td', own, cell(row));
    });
  const lines = rows.map((row) =>
    h('tr', { key: keyOf(row), class: toneOf?.(row) }, cellsOf(row)),
  );
  return h(
    'div',
    { class: 'table', tabIndex: 0, role: 'region', 'aria-label': caption },
    [
      h('table', null, [
        h('caption', { class: 'unseen' }, caption),
        h('thead', null, h('tr', null, head)),
        h('tbody', null, lines),
        total !== undefined && h('tfoot', null, totalLine(shown, total)),
      ]),
    ],
  );
}

function totalLine<Row>(columns: readonly Column<Row>[], total: Row) {
  const [first, ...others] = columns;
  return h('tr', null, [
    h('th', { scope: 'row', 'data-title': first![0] }, 'Total'),
    others.map(([title, cell, look]) =>
      look === 'figure'
        ? h('td', { class: look, 'data-title': title }, cell(total))
        : h('td', null),
    ),
  ]);
}

/** A part of all in figures, and as a bar as long as the count beside the largest. */
export function Share({ share, length }: { share: number; length: number }) {
  return h('div', { class: 'share' }, [
    h(
      'div',
      { class: 'bar', 'aria-hidden': 'true' },
      length > 0 && h('div', { style: { width: `${100 * length}%` } }),
    ),
    h('span', null, percent(share)),
  ]);
}

/** Names with their values, under each other. Those whose value is null are left out. */
export function Facts({
  facts,
}: {
  facts: readonly (readonly [name: string, value: ComponentChildren])[];
}) {
  const given = facts.filter(([, value]) => value !== null);
  const lines = given.flatMap(([name, value]) => [
    h('dt', { key: `${name} name` }, name),
    h('dd', { key: name }, value),
  ]);
  return h('dl', { class: 'facts' }, lines);
}

/** Texts under each other. */
export function Texts({
  texts,
  ...look
}: {
  texts: readonly string[];
  class?: string;
}) {
  const lines = texts.map((text) => h('li', { key: text }, text));
  return h('ul', look, lines);
}

/** A word for how something is, in its tone: `ready`, `banned`. */
export function Badge({
  tone = 'plain',
  children,
}: {
  tone?: Tone;
  children?: ComponentChildren;
}) {
  return h('span', { class: `badge ${tone}` }, children);
}

/** The status of a refusal or failure, and the code of the gateway. */
export const statusWithCode = ({
  status,
  code,
}: {
  readonly status: number;
  readonly code: string | null;
}) =>
  h(
    'span',
    { class: 'whole' },
    h(Badge, { tone: status >= 500 ? 'bad' : 'plain' }, status),
    ' ',
    code ?? 'of the backend',
  );

/** Milliseconds after which relative times are updated. */
const REFRESH_INTERVAL = 10_000;

/** A moment as people say it; the exact one is in its title and for machines. `null` is a dash. */
export function Time({
  at,
  relative = false,
}: {
  at: string | null;
  relative?: boolean;
}) {
  const [, setText] = useState(0);
  const moves = relative && at !== null;
  useEffect(() => {
    if (!moves) return;
    const timer = setInterval(
      () => setText((times) => times + 1),
      REFRESH_INTERVAL,
    );
    return () => clearInterval(timer);
  }, [moves]);
  if (at === null) return h('span', null, '–');
  return h(
    'time',
    { dateTime: at, title: at },
    relative ? fromNow(at) : clockTime(at),
  );
}

/** `10:20:30 (in 5m)`. */
export const bothTimes = (at: string) => [
  h(Time, { at }),
  ' (',
  h(Time, { at, relative: true }),
  ')',
];

const KEY_ID = /^key_[0-9A-Za-z]{16}$/;

/** Whether the text is the whole id of a key; no account is called so. */
export const isKeyId = (text: string): boolean => KEY_ID.test(text);

/**
 * The id of a key or the name of an account, which leads to all that is known of it. `null` is a
 * dash.
 */
export function ClientLink({ who }: { who: string | null | undefined }) {
  if (!who) return h('span', null, '–');
  return h(
    'a',
    { href: linkTo('keys', who), class: isKeyId(who) ? 'whole' : undefined },
    who,
  );
}

export const planLink = (plan: string) =>
  h('a', { href: linkTo('plans', plan) }, plan);

/** Links to several keys or accounts, separated by commas. */
export const clientLinks = (all: readonly string[]) =>
  all.map((who, i) => [i > 0 && ', ', h(ClientLink, { key: who, who })]);
