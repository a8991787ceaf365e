import { h } from 'preact';
import { useState } from 'preact/hooks';
import type { OutgoingRequest } from '../model/request.ts';
import { SNIPPETS } from '../model/snippets.ts';
import { Choice, Code, Title } from './shared.ts';

interface SnippetsProps {
  readonly request: (use: 'send' | 'show') => OutgoingRequest;
}

/** The request in several languages. Copies have the key, which the page does not show. */
export function Snippets({ request }: SnippetsProps) {
  const [language, setLanguage] = useState('curl');
  const text = (use: 'send' | 'show') => SNIPPETS[language]!(request(use));
  return h('section', { class: 'snippets', 'aria-label': 'Code' }, [
    h(
      Title,
      { text: 'Code' },
      h(Choice, {
        label: 'Language',
        options: Object.keys(SNIPPETS),
        value: language,
        onChoose: setLanguage,
      }),
    ),
    h(Code, {
      key: language,
      text: text('show'),
      label: language,
      copied: () => text('send'),
    }),
  ]);
}
