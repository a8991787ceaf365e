import { h } from 'preact';
import { useState } from 'preact/hooks';
import type { Config, Setting, Status, Webhooks } from '../../admin-api.ts';
import { useAnswer } from '../api/use-answer.ts';
import { number } from '../format.ts';
import { Field } from '../parts/fields.ts';
import { Table } from '../parts/table.ts';
import { AnswerView, View } from '../parts/view.ts';
import { Files } from './configuration/files.ts';
import { GatewayConfigurations } from './configuration/gateways.ts';
import { ReceiversOfEvents } from './configuration/receivers.ts';
import { Source } from './configuration/source.ts';

/** `storegate config`, `config diff` and `reload`: what is in force, and what the files say. */
export function Configuration() {
  const settings = useAnswer('/config');
  const status = useAnswer('/status', { every: 10_000 });
  const webhooks = useAnswer('/webhooks', { every: 10_000 });
  return h(
    View,
    { title: 'Configuration', about: 'Settings in force, their sources, and differences from the files' },
    [
      h('h2', null, 'Files'),
      h(Files, { onReloaded: () => void Promise.all([settings.refresh(), status.refresh()]) }),
      h('h2', null, 'Gateways'),
      h(AnswerView<Status>, { answer: status, children: (found) => h(GatewayConfigurations, { status: found }) }),
      h('h2', null, 'Webhooks'),
      h(AnswerView<Webhooks>, {
        answer: webhooks,
        children: (found) => h(ReceiversOfEvents, { receivers: found.endpoints }),
      }),
      h('h2', null, 'Settings in force'),
      h(AnswerView<Config>, {
        answer: settings,
        children: (found) => h(SettingsInForce, { settings: found.settings }),
      }),
    ],
  );
}

function SettingsInForce({ settings }: { settings: readonly Setting[] }) {
  const [text, setText] = useState('');
  const shown = settings.filter((setting) => isAbout(setting, text.trim().toLowerCase()));
  return [
    h('div', { class: 'filters', role: 'search', 'aria-label': 'Filter settings' }, [
      h(Field, {
        label: 'Only settings from',
        type: 'search',
        value: text,
        placeholder: 'maxBody, plans.yaml, environment, restart',
        onInput: (event: Event) => setText((event.currentTarget as HTMLInputElement).value),
      }),
      h('p', { class: 'soft', role: 'status' }, `${number(shown.length)} of ${number(settings.length)}`),
    ]),
    h(Table<Setting>, {
      caption: 'Settings in force',
      rows: shown,
      keyOf: ({ name }) => name,
      empty: 'No matching settings.',
      columns: [
        { title: 'Setting', names: true, cell: ({ name }) => h('code', null, name) },
        { title: 'Value', cell: ({ value }) => h('div', { class: 'setting-value' }, h('code', null, value)) },
        { title: 'From', cell: ({ source }) => h(Source, { source }) },
        { title: 'A change needs', cell: ({ restart }) => (restart ? 'a restart' : 'a reload') },
      ],
    }),
  ];
}

/** Whether all words are in what is shown of a setting. */
function isAbout({ name, value, source, restart }: Setting, text: string): boolean {
  const all = `${name} ${value} ${source} ${restart ? 'restart' : 'reload'}`.toLowerCase();
  return text.split(/\s+/).every((word) => all.includes(word));
}
