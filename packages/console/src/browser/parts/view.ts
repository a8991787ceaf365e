import type { PeerCoverage } from '@storegate/admin-api';
import { missingGateways, withTimes } from '@storegate/admin-api/text';
import { type ComponentChildren, createContext, h } from 'preact';
import {
  useCallback,
  useContext,
  useLayoutEffect,
  useRef,
  useState,
} from 'preact/hooks';
import type { ApiError } from '../api/client.ts';
import { asOf, type Query } from '../api/hooks.ts';
import { clockTime } from '../format.ts';
import { Texts, Time, type Tone } from './data.ts';

interface ViewProps {
  readonly title: string;
  /** The question that the view answers, in one sentence. */
  readonly about?: ComponentChildren;
  /** What can be done here: buttons, filters. */
  readonly actions?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/**
 * One page of the console. Its heading takes the focus when it appears, so that a screen reader
 * says where one is.
 */
export function View({ title, about, actions, children }: ViewProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  // Before the view is painted: title and focus must not belong to the former view.
  useLayoutEffect(() => {
    document.title = `${title} · storegate console`;
  }, [title]);
  useLayoutEffect(() => heading.current?.focus({ preventScroll: true }), []);
  const { add, lines } = useHead();
  return h('article', { class: 'view' }, [
    h('header', { class: 'view-head' }, [
      h(
        'div',
        null,
        h('h1', { ref: heading, tabIndex: -1 }, title),
        about && h('p', { class: 'about' }, about),
      ),
      actions && h('div', { class: 'actions' }, actions),
    ]),
    lines.length > 0 && h(Notice, { tone: 'warn' }, lines.map(asParagraph)),
    h(Head.Provider, { value: add }, children),
  ]);
}

/**
 * Draws a response: the failure, a word while it loads, its age if the state is down, the gateways
 * that it lacks, and the last value by `draw`.
 */
export function queryView<T extends object>(
  query: Query<T>,
  draw: (value: T) => ComponentChildren,
) {
  const { value, error, since, loading } = query;
  const at = asOf(value);
  return h('div', { 'aria-busy': loading && value === null }, [
    h(Failure, { error }),
    value !== null &&
      since !== null &&
      h(Notice, { tone: 'warn' }, [
        'Not updated since ',
        h(Time, { at: since }),
        '.',
      ]),
    at !== null &&
      h(Notice, { tone: 'warn' }, [
        'As of ',
        h(Time, { at }),
        '; Redis does not respond. Changes fail until it is up.',
      ]),
    value !== null &&
      'unresponsive' in value &&
      h(Missing, value as T & PeerCoverage),
    value !== null
      ? draw(value)
      : loading && h('p', { class: 'loading' }, 'Loading …'),
  ]);
}

/** A remark with a tone that words say too, not colour alone. */
export function Notice({
  tone = 'plain',
  children,
}: {
  tone?: Tone;
  children?: ComponentChildren;
}) {
  return h(
    'div',
    { class: `notice ${tone}`, role: tone === 'bad' ? 'alert' : 'note' },
    children,
  );
}

/** What the admin API said of a call that failed. Nothing for `null`. */
export function Failure({ error }: { error: ApiError | null }) {
  if (error === null) return null;
  const details = error.details.filter(
    ({ message }) => !error.message.includes(message),
  );
  return h(Notice, { tone: 'bad' }, [
    h(
      'p',
      null,
      withTimes(error.message, clockTime),
      ' ',
      h('code', null, error.code),
    ),
    details.length > 0 &&
      h(Texts, {
        texts: details.map(({ pointer, message }) => `${pointer} ${message}`),
      }),
  ]);
}

/** What responses lack: once above the view, whichever lack it. */
export function Missing(coverage: PeerCoverage) {
  const head = useContext(Head);
  const text = missingGateways(coverage, clockTime).join('\n');
  // With the content, so that the view is not read without it.
  useLayoutEffect(() => (text === '' ? undefined : head(text)), [head, text]);
  return null;
}

/** Shows a text above the view, until the function that it returns is called. */
const Head = createContext<(text: string) => () => void>(() => () => {});

function useHead() {
  const [texts, setTexts] = useState<readonly string[]>([]);
  const add = useCallback((text: string) => {
    setTexts((before) => [...before, text]);
    return () =>
      setTexts((before) => before.toSpliced(before.indexOf(text), 1));
  }, []);
  return { add, lines: [...new Set(texts.flatMap((one) => one.split('\n')))] };
}

export const asParagraph = (text: string) => h('p', { key: text }, text);
