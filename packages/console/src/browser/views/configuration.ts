import type {
  Gateway,
  Setting,
  Status,
  WebhookEndpoint,
  Webhooks,
} from '@storegate/admin-api';
import { number } from '@storegate/admin-api/text';
import { h } from 'preact';
import { useState } from 'preact/hooks';
import { useQuery } from '../api/hooks.ts';
import {
  Badge,
  type Column,
  codeColumn,
  countColumn,
  rowHeader,
  Table,
  Texts,
  Time,
  textColumn,
  timeColumn,
} from '../parts/data.ts';
import { Field } from '../parts/fields.ts';
import { queryView, View } from '../parts/view.ts';
import { Files, Source } from './configuration/files.ts';

/** `storegate config`, `config diff` and `reload`: what is in force, and what the files say. */
export function Configuration() {
  const settings = useQuery('getConfig');
  const status = useQuery('getStatus', { every: 10_000 });
  const webhooks = useQuery('listWebhooks', { every: 10_000 });
  const about =
    'Settings in force, their sources, and differences from the files';
  return h(View, { title: 'Configuration', about }, [
    h('h2', null, 'Settings'),
    queryView(settings, (found) =>
      h(SettingsInForce, { settings: found.settings }),
    ),
    h('h2', null, 'Files'),
    h(Files, {
      onReloaded: () =>
        void Promise.all([settings.refresh(), status.refresh()]),
    }),
    h('h2', null, 'Gateways'),
    queryView(status, gatewaysTable),
    h('h2', null, 'Webhooks'),
    queryView(webhooks, webhooksTable),
  ]);
}

function SettingsInForce({ settings }: { settings: readonly Setting[] }) {
  const [text, setText] = useState('');
  const shown = settings.filter((setting) =>
    isAbout(setting, text.trim().toLowerCase()),
  );
  const defaults = shown.filter(({ source }) => source === 'default');
  const changed = shown.filter(({ source }) => source !== 'default');
  return [
    h(
      'div',
      { class: 'filters', role: 'search', 'aria-label': 'Filter settings' },
      [
        h(Field, {
          label: 'Only settings from',
          type: 'search',
          value: text,
          placeholder: 'maxBody, plans.yaml, environment, restart',
          onInput: (event: Event) =>
            setText((event.currentTarget as HTMLInputElement).value),
        }),
        h(
          'p',
          { class: 'soft', role: 'status' },
          `${number(shown.length)} of ${number(settings.length)}`,
        ),
      ],
    ),
    h(Settings, {
      caption: 'Settings that differ from the defaults',
      settings: changed,
      empty:
        shown.length > 0
          ? 'No setting differs from its default.'
          : 'No matching settings.',
    }),
    defaults.length > 0 &&
      h('details', { open: text !== '' }, [
        h('summary', null, `Defaults (${number(defaults.length)})`),
        h(Settings, {
          caption: 'Settings with their defaults',
          settings: defaults,
        }),
      ]),
  ];
}

interface SettingsProps {
  readonly caption: string;
  readonly settings: readonly Setting[];
  readonly empty?: string;
}

function Settings({ caption, settings, empty }: SettingsProps) {
  return h(Table<Setting>, {
    caption,
    rows: settings,
    keyOf: ({ name }) => name,
    empty,
    columns: [
      rowHeader(codeColumn('Setting', 'name')),
      [
        'Value',
        ({ value }) =>
          h('div', { class: 'setting-value' }, h('code', null, value)),
      ],
      ['From', ({ source }) => h(Source, { source })],
      ['A change needs', ({ restart }) => (restart ? 'a restart' : 'a reload')],
    ],
  });
}

/** Whether all words are in what is shown of a setting. */
function isAbout(
  { name, value, source, restart }: Setting,
  text: string,
): boolean {
  const all =
    `${name} ${value} ${source} ${restart ? 'restart' : 'reload'}`.toLowerCase();
  return text.split(/\s+/).every((word) => all.includes(word));
}

/** Which gateways decide by another configuration, and what the last reload of each did. */
function gatewaysTable({ gateways }: Status) {
  return h(Table<Gateway>, {
    caption: 'Configuration of each gateway',
    rows: gateways,
    keyOf: ({ gateway }) => gateway,
    empty: 'No gateway responded.',
    toneOf: ({ configuration: { differs } }) =>
      differs.length > 0 ? 'warn' : undefined,
    columns: [
      rowHeader(textColumn('Gateway', 'gateway')),
      ...(['settings', 'plans', 'contract'] as const).map(
        (part): Column<Gateway> => [
          part[0]!.toUpperCase() + part.slice(1),
          ({ configuration }) => [
            h('code', null, configuration[part]),
            configuration[part] === 'none' && [
              ' ',
              h(Badge, { tone: 'warn' }, 'requests are not validated'),
            ],
            configuration.differs.includes(part) && [
              ' ',
              h(Badge, { tone: 'warn' }, 'differs'),
            ],
          ],
        ],
      ),
      [
        'Restart required',
        ({ configuration }) => configuration.pendingRestart.join(', ') || '–',
      ],
      [
        'Last reload',
        (gateway) => h('div', { class: 'last-reload' }, lastReloadOf(gateway)),
      ],
    ],
  });
}

function lastReloadOf({ configuration: { lastReload } }: Gateway) {
  if (lastReload === null) return 'none since its start';
  const { at, reason, problems } = lastReload;
  const when = [h(Time, { at }), `, ${reason}`];
  if (problems.length === 0) return when;
  return [
    h(Badge, { tone: 'bad' }, 'refused'),
    ' ',
    ...when,
    h(Texts, { texts: problems }),
  ];
}

const STATUSES = {
  new: ['plain', 'nothing sent yet'],
  ok: ['good', 'OK'],
  failing: ['bad', 'failing'],
  disabled: ['bad', 'disabled'],
} as const;

function webhooksTable({ endpoints }: Webhooks) {
  return h(Table<WebhookEndpoint>, {
    caption: 'Webhook endpoints',
    rows: endpoints,
    keyOf: ({ id }) => id,
    empty: 'No webhook endpoints configured.',
    toneOf: ({ status }) =>
      status === 'failing' || status === 'disabled' ? 'bad' : undefined,
    columns: [
      ['Endpoint', ({ host, id }) => [host, ' ', h('code', null, id)], 'names'],
      ['Status', statusOf],
      countColumn('Pending', 'pending'),
      countColumn('Dropped', 'dropped'),
      timeColumn('Last delivered', 'delivered'),
      ['Events', ({ events }) => events.join(', ')],
    ],
  });
}

function statusOf({ status, failingSince, error }: WebhookEndpoint) {
  const [tone, text] = STATUSES[status];
  const badge = h(Badge, { tone }, text);
  return failingSince === null
    ? badge
    : [badge, ' since ', h(Time, { at: failingSince }), `: ${error}`];
}
