import type { BanEntry, Usage } from '@storegate/admin-api';
import { number, plural, recordText } from '@storegate/admin-api/text';
import { h } from 'preact';
import {
  type BanTarget,
  banAction,
  banTargetOf,
  extendAction,
  grantAction,
  liftAction,
  resetAction,
} from '../../actions/bans-and-usage.ts';
import { clockTime } from '../../format.ts';
import type { Actions } from '../../parts/action.ts';
import { Badge, bothTimes, ClientLink, Table, Time } from '../../parts/data.ts';
import { Notice, queryView } from '../../parts/view.ts';
import { useMay } from '../../session.ts';
import type { SubjectRecords } from './activity.ts';

/** Usages that are shown with their windows. */
const SHOWN = 10;

/** What is left of the limits now, strikes and bans, and what can be done about them. */
export function Windows({
  name,
  subject,
  actions,
}: {
  name: string;
  subject: SubjectRecords;
  actions: Actions;
}) {
  const mayOperate = useMay('operate');
  if (subject.usage.error?.code === 'not_found')
    return h(
      'p',
      { class: 'empty' },
      'All its keys are revoked: nothing is counted.',
    );
  return [
    h('h2', null, 'Now'),
    queryView(subject.usage, ({ usage }) => [
      shownOf(usage).map((entry) =>
        h(One, {
          key: entry.subject,
          entry,
          named: usage.length > 1 || entry.key !== name,
          ban: banOf(entry, subject.bans.value?.entries ?? []),
        }),
      ),
      leftOut(usage),
      mayOperate &&
        h(Buttons, { usage, target: banTargetOf(name, usage), actions }),
    ]),
  ];
}

function Buttons({
  usage,
  target,
  actions,
}: {
  usage: readonly Usage[];
  target: BanTarget;
  actions: Actions;
}) {
  const windows = [
    ...new Set(usage.flatMap((one) => one.windows.map(({ name }) => name))),
  ];
  // Without limits nothing is counted, and nothing can be done about it.
  if (windows.length === 0) return null;
  const banned = usage.filter((one) => one.banned !== null);
  const hasStrikes = usage.some(
    (one) => one.banned !== null || one.strikes > 0 || one.level > 0,
  );
  return h(
    'div',
    {
      class: 'actions',
      role: 'group',
      'aria-label': 'Limits and bans: actions',
    },
    [
      hasStrikes && actions.button(liftAction(target)),
      actions.button(banAction(target)),
      // The API extends the bans of all that a subject stands for, or of none.
      banned.length > 0 &&
        banned.length === usage.length &&
        actions.button(
          extendAction(target, usage.length === 1 ? usage[0]!.banned : null),
        ),
      actions.button(grantAction(target, windows)),
      actions.button(resetAction(target)),
    ],
  );
}

function One({
  entry,
  named,
  ban,
}: {
  entry: Usage;
  named: boolean;
  ban: BanEntry | null;
}) {
  const { key, account, plan, windows, banned } = entry;
  return h('section', { class: 'subject-usage' }, [
    named &&
      h('h3', null, [
        key === null
          ? `${account} on plan ${plan}, all keys counted together`
          : [h(ClientLink, { who: key }), `, plan ${plan}`],
      ]),
    banned !== null && h(BanNotice, { until: banned, ban }),
    windows.length === 0
      ? h(Notice, { tone: 'bad' }, [
          'No limits are set: every request is refused with 403. Set own limits, or another plan.',
        ])
      : h(Table<Window>, {
          caption: `Windows of ${key ?? `${account} on plan ${plan}`}`,
          rows: windows,
          keyOf: ({ name }) => name,
          columns: [
            [
              'Window',
              ({ name, kind }) => [name, h('small', null, kind)],
              'names',
            ],
            ['Used', meterOf],
            ['Resets', resetOf],
          ],
        }),
    h('p', { class: 'strikes' }, strikeText(entry)),
  ]);
}

type Window = Usage['windows'][number];

const resetOf = ({ resets }: Window) =>
  resets === null ? 'nothing is used' : bothTimes(resets);

function BanNotice({ until, ban }: { until: string; ban: BanEntry | null }) {
  return h(Notice, { tone: 'bad' }, [
    h(Badge, { tone: 'bad' }, 'banned'),
    ' until ',
    bothTimes(until),
    ban !== null && [
      ', since ',
      h(Time, { at: ban.at }),
      ban.action === 'bans.start' ? ' automatically' : ` by ${ban.actor}`,
      ban.reason !== null && `: ${ban.reason}`,
    ],
  ]);
}

function strikeText({ strikes, level, history }: Usage): string {
  const parts = [
    strikes === 0
      ? 'No strikes'
      : `${plural(strikes, 'strike')} towards the next ban`,
    `ban level ${level}`,
    ...(history ? [recordText(history, clockTime)] : []),
  ];
  return `${parts.join(', ')}.`;
}

/** The entry of the ban in force. */
function banOf(
  { key, account, plan }: Usage,
  entries: readonly BanEntry[],
): BanEntry | null {
  const isOfThis = ({ target, after }: BanEntry) =>
    key === null ? target === account && after?.plan === plan : target === key;
  return (
    entries.find(
      (entry) =>
        isOfThis(entry) && entry.ended === null && entry.action !== 'bans.lift',
    ) ?? null
  );
}

/**
 * Of several, those that are banned, have strikes or have used something; first the banned, then
 * those with the least left.
 */
function shownOf(usage: readonly Usage[]): readonly Usage[] {
  if (usage.length === 1) return usage;
  const remaining = ({ banned, windows }: Usage) =>
    banned !== null
      ? -1
      : Math.min(
          1,
          ...windows.map(({ remaining, limit }) => remaining / limit),
        );
  const isIdle = (one: Usage) =>
    remaining(one) === 1 && one.strikes === 0 && one.windows.length > 0;
  return usage
    .filter((one) => !isIdle(one))
    .toSorted((a, b) => remaining(a) - remaining(b))
    .slice(0, SHOWN);
}

function leftOut(usage: readonly Usage[]) {
  const shown = shownOf(usage).length;
  const others = usage.length - shown;
  if (others === 0) return null;
  const which = shown === 0 ? 'Its keys' : 'Its other keys';
  const text =
    shown === SHOWN
      ? `${which} (${number(others)}) have as much quota left, or more.`
      : `${which} (${number(others)}): no usage, no strikes, no ban.`;
  return h('p', { class: 'strikes' }, text);
}

/** How much of a limit is used, as a bar and in figures. */
function meterOf({ name, used, limit }: Window) {
  // Beyond `high` browsers draw it in another colour; the figures say the same.
  const range = {
    min: 0,
    max: limit,
    high: limit * 0.8,
    optimum: 0,
    value: Math.min(used, limit),
  };
  return h('div', { class: 'meter' }, [
    h('meter', { 'aria-label': `Used of ${name}`, ...range }),
    h(
      'span',
      null,
      `${number(used)} of ${number(limit)}${used >= limit ? ' · used up' : ''}`,
    ),
  ]);
}
