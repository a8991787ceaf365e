import { h } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Match, matchesOf } from './api/find.ts';
import { goTo } from './routing.ts';
import { goUnlessSecret, holdsSecret } from './secrets.ts';

/** Milliseconds without a key after which matches are looked for. */
const TYPED = 200;
const NO_MATCHES: readonly Match[] = [];

/** The way to everything: suggests what matches, and opens the only match. */
export function Search() {
  const form = useRef<HTMLFormElement>(null);
  const [matches, setMatches] = useState(NO_MATCHES);
  const [chosen, setChosen] = useState(-1);
  const finding = useRef<AbortController | null>(null);
  const timer = useRef<number>(0);

  function stop() {
    clearTimeout(timer.current);
    finding.current?.abort();
    finding.current = null;
  }

  function close() {
    stop();
    setMatches(NO_MATCHES);
    setChosen(-1);
  }
  useEffect(() => stop, []);

  /** `null`: another text is looked for by now. */
  async function find(text: string): Promise<readonly Match[] | null> {
    stop();
    const aborting = new AbortController();
    finding.current = aborting;
    const { signal } = aborting;
    const found = await matchesOf(text, signal).catch(() => NO_MATCHES);
    return signal.aborted ? null : found;
  }

  const textOf = () => form.current!.querySelector('input')!.value.trim();

  function onInput() {
    close();
    const text = textOf();
    timer.current = window.setTimeout(async () => {
      setMatches((await find(text)) ?? NO_MATCHES);
    }, TYPED);
  }

  function open(link: string) {
    close();
    form.current!.reset();
    goTo(link);
  }

  async function onSubmit(event: SubmitEvent) {
    event.preventDefault();
    if (matches[chosen]) return open(matches[chosen].link);
    const text = textOf();
    const found = holdsSecret(text) ? NO_MATCHES : await find(text);
    if (found === null) return;
    if (found.length === 1) return open(found[0]!.link);
    close();
    form.current!.reset();
    goUnlessSecret('keys', { find: text });
  }

  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape') close();
    if (step === undefined || matches.length === 0) return;
    event.preventDefault();
    // The place before the first match is the text itself.
    const places = matches.length + 1;
    setChosen(((chosen + 1 + step + places) % places) - 1);
  }

  return h(
    'form',
    {
      ref: form,
      class: 'search',
      role: 'search',
      'aria-label': 'Everything',
      onSubmit,
    },
    [
      h('input', {
        type: 'search',
        role: 'combobox',
        'aria-label': 'Search',
        'aria-autocomplete': 'list',
        'aria-expanded': matches.length > 0,
        'aria-controls': 'matches',
        'aria-activedescendant': chosen < 0 ? undefined : `match-${chosen}`,
        placeholder: 'Key, account, label, request id, operation',
        required: true,
        maxLength: 200,
        autoComplete: 'off',
        spellcheck: false,
        onInput,
        onKeyDown,
        onBlur: close,
      }),
      h(
        'ul',
        {
          id: 'matches',
          role: 'listbox',
          'aria-label': 'Matches',
          hidden: matches.length === 0,
        },
        matches.map(({ kind, name, detail, link }, i) =>
          h(
            'li',
            {
              key: link,
              id: `match-${i}`,
              role: 'option',
              'aria-selected': i === chosen,
              // Before the field loses the focus, which closes the list.
              onMouseDown: (event: Event) => {
                event.preventDefault();
                open(link);
              },
            },
            [
              h('span', { class: 'soft' }, kind),
              h('span', null, name),
              detail !== null && h('small', { class: 'soft' }, detail),
            ],
          ),
        ),
      ),
    ],
  );
}
