import { type ComponentChildren, createContext, h } from 'preact';
import { useContext, useState } from 'preact/hooks';
import type { Api } from '../model/api.ts';
import { piecesOf } from '../model/json-text.ts';

export const ApiContext = createContext<Api | null>(null);
export const useApi = (): Api => useContext(ApiContext)!;

interface FoldedProps {
  readonly class: string;
  readonly id?: string;
  readonly summary: ComponentChildren;
  readonly open?: boolean;
  readonly onOpen?: () => void;
  readonly children: () => ComponentChildren;
}

/** Its content is drawn when it is opened for the first time. */
export function Folded({
  summary,
  open = false,
  onOpen,
  children,
  ...own
}: FoldedProps) {
  const [isOpen, setOpen] = useState(open);
  const [isDrawn, setDrawn] = useState(open);
  function toggled({
    currentTarget,
  }: {
    readonly currentTarget: HTMLDetailsElement;
  }) {
    setOpen(currentTarget.open);
    if (!currentTarget.open) return;
    setDrawn(true);
    onOpen?.();
  }
  return h('details', { ...own, open: isOpen, onToggle: toggled }, [
    h('summary', null, summary),
    isDrawn && children(),
  ]);
}

interface ChoiceProps {
  readonly label: string;
  readonly options: readonly string[];
  readonly value: string | null;
  readonly onChoose: (option: string) => void;
}

/** One of several views. A single one is text. */
export function Choice({ label, options, value, onChoose }: ChoiceProps) {
  if (options.length < 2)
    return options.map((option) => h('code', { key: option }, option));
  const button = (option: string) =>
    h(
      'button',
      {
        key: option,
        type: 'button',
        'aria-pressed': option === value,
        onClick: () => onChoose(option),
      },
      option,
    );
  return h(
    'div',
    { class: 'choice', role: 'group', 'aria-label': label },
    options.map(button),
  );
}

interface CodeProps {
  readonly text: string;
  readonly label: string;
  readonly isJson?: boolean;
  /** What is copied, unless it is the text. */
  readonly copied?: () => string;
  readonly children?: ComponentChildren;
}

/** Characters: more pieces would take too long to draw. */
const COLOURED = 100_000;

export function Code({ text, label, isJson, copied, children }: CodeProps) {
  const [hint, setHint] = useState('Copy');
  const copy = async () => {
    await navigator.clipboard.writeText(copied?.() ?? text);
    setHint('Copied');
  };
  const pieces = isJson && text.length < COLOURED ? piecesOf(text) : [];
  const coloured = pieces.map(({ kind, text }, key) =>
    kind === 'other' ? text : h('span', { key, class: `json-${kind}` }, text),
  );
  return h('div', { class: 'code' }, [
    h(
      'pre',
      { tabIndex: 0, 'aria-label': label, role: 'region' },
      h('code', null, pieces.length > 0 ? coloured : text),
    ),
    h('p', { class: 'buttons' }, [
      children,
      h('button', { type: 'button', onClick: copy }, hint),
    ]),
  ]);
}

interface TitleProps {
  readonly text: string;
  readonly required?: boolean | undefined;
  /** What stands at the right. */
  readonly children?: ComponentChildren;
}

export function Title({ text, required, children }: TitleProps) {
  return h(
    'div',
    { class: 'title' },
    h('h4', null, text, required && h(Star, null)),
    children,
  );
}

export const Star = () => h('span', { class: 'star', title: 'required' }, ' *');

interface TableProps {
  readonly class: string;
  readonly label: string;
  readonly titles: readonly string[];
  /** Rows of the body. */
  readonly children?: ComponentChildren;
}

export function Table({ label, titles, children, class: look }: TableProps) {
  const head = titles.map((text) => h('th', { key: text, scope: 'col' }, text));
  return h('table', { class: look, 'aria-label': label }, [
    h('thead', null, h('tr', null, head)),
    h('tbody', null, children),
  ]);
}
