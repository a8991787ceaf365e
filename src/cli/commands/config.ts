import type { ConfigDiff, Reload, Setting } from '@storegate/admin-api';
import {
  contractCopyText,
  differencesIn,
  NO_DIFFERENCE,
} from '@storegate/admin-api/text';
import { call, memberOf, operation, option } from '../command.ts';
import type { Api } from '../connect/api.ts';
import { inSentence, type View } from '../output.ts';

const DIFF: View<ConfigDiff> = (diff, page) =>
  page.table(
    ['type', 'name', 'inForce', 'in the files', 'source', 'restart'],
    differencesIn(diff).map(({ inFiles, restart, ...rest }) => ({
      ...rest,
      'in the files': inFiles,
      restart: restart ? 'needed' : null,
    })),
    NO_DIFFERENCE,
  );

function rowsOf({ restart, ...setting }: Setting) {
  const [value, ...rest] = setting.value.match(/.{1,47}(?:,|$)|.{1,48}/g)!;
  const blank = { name: ' ', source: ' ', restart: ' ' };
  return [
    { ...setting, value, restart: restart ? 'needed' : null },
    ...rest.map((value) => ({ ...blank, value })),
  ];
}

export const configCommands = call(
  'config',
  'show effective settings and their sources',
  {
    ...memberOf('getConfig', 'settings'),
    view: (settings, page) =>
      page.table(
        ['name', 'value', 'source', 'restart'],
        settings.flatMap(rowsOf),
      ),
    commands: [
      call('diff', 'compare the files with the running configuration', {
        ...operation('diffConfig'),
        view: DIFF,
        note: otherGateways,
      }),
    ],
  },
);

/** Each gateway may match its own files. */
async function otherGateways(api: Api): Promise<string | null> {
  const { gateways } = await api.call('getStatus');
  const other = gateways.find(({ configuration: { differs } }) => differs[0]);
  if (other === undefined) return null;
  const parts = other.configuration.differs.join(', ');
  return `${other.gateway} differs from most gateways in ${parts}: compare "config" and "plans list" of two gateways (--url), and their contracts.`;
}

export const reloadCommand = call(
  'reload',
  'reload the configuration files of a running gateway',
  {
    options: [option('--dry-run', 'print what would change, or every mistake')],
    changes: true,
    examples: ['reload --dry-run'],
    ask: async (api, { dryRun = false }: { dryRun?: boolean }) => ({
      dryRun,
      ...(await api.call('reload', {
        params: { dryRun: dryRun || undefined },
      })),
    }),
    view: (reloaded, page) => page.notes(...reloadNotes(reloaded)),
  },
);

function reloadNotes(reload: Reload & { dryRun: boolean }): string[] {
  const { changed, needRestart, contractCopy, dryRun } = reload;
  const nothing = dryRun
    ? 'A reload would change nothing.'
    : 'Nothing changed.';
  const [some, restart] = dryRun
    ? ['A reload would change', 'A restart would change']
    : ['Changed', 'Needs a restart'];
  return [
    changed.length === 0 ? nothing : `${some}: ${changed.join(', ')}.`,
    ...(needRestart.length === 0
      ? []
      : [`${restart}: ${needRestart.join(', ')}.`]),
    ...(contractCopy === null
      ? []
      : [contractCopyText('The gateway', contractCopy, inSentence)]),
  ];
}
