import { type Html, html } from '@storegate/pages';

export interface Window {
  readonly name: string;
  /** The page shows any kind except `fixed` beside the limit. */
  readonly kind: string;
  readonly limit: number;
  /** Milliseconds. */
  readonly span: number;
  /** Of a calendar window. */
  readonly zone?: string;
  /** It counts only requests to this API. */
  readonly scope?: string;
}

export interface Plan {
  readonly name: string;
  readonly count: 'key' | 'account';
  /** `null`: set for each key or account. */
  readonly windows: readonly Window[] | null;
  /** Unlimited if absent. */
  readonly concurrency?: number;
  /** Clients that may share a key, if the limits do not decide that. */
  readonly workers?: number;
}

/** Times in milliseconds. */
export interface BanRules {
  readonly strikes: number;
  readonly window: number;
  /** As many as a limit has units, within these bounds. */
  readonly workers: number;
  readonly minWorkers: number;
  readonly durations: readonly number[];
  readonly decay: number;
}

/** Limits of single accounts are not shown to clients. */
export interface Limits {
  readonly plans: readonly Plan[];
  /** `null`: no bans. */
  readonly bans: BanRules | null;
  readonly scoped: readonly {
    readonly kind: string;
    readonly name: string;
    readonly window: Window;
  }[];
}

export function limitsSection({ plans, bans, scoped }: Limits): Html {
  const columns = columnsOf(plans);
  return html`<section id="limits" aria-labelledby="limits-title">
<h2 id="limits-title">Plans and limits</h2>
<p>A request is let through when it fits into every limit of your plan, and then counts against all of them. A refused
request costs nothing. A request counts once unless its operation says otherwise.</p>
<div class="scroll" tabindex="0" role="region" aria-label="Limits of each plan">
<table class="plans">
<thead><tr><th scope="col">Plan</th>${columns.map(({ name }) => html`<th scope="col">per ${name}</th>`)}</tr></thead>
<tbody>${plans.map((plan) => row(plan, columns))}</tbody>
</table>
</div>
${besides(scoped)}
<p>Rate-limit headers in every response:</p>
<dl class="header-list">
<div><dt><code>X-RateLimit-Limit</code></dt><dd>The limit with the least left, or the one that refused.</dd></div>
<div><dt><code>X-RateLimit-Remaining</code></dt><dd>Requests left in it.</dd></div>
<div><dt><code>X-RateLimit-Reset</code></dt><dd>Reset time, in Unix seconds.</dd></div>
<div><dt><code>RateLimit</code></dt><dd>All limits at once, with the seconds to wait.</dd></div>
</dl>
${bansText(bans)}
</section>`;
}

function besides(scoped: Limits['scoped']): Html | null {
  if (scoped.length === 0) return null;
  const items = scoped.map(({ kind, name, window }) => {
    const what =
      kind === 'tag'
        ? html`All operations of <strong>${name}</strong> together`
        : html`<code>${name}</code>`;
    return html`<li>${what}: ${amount(window)} per ${window.name}</li>`;
  });
  return html`<p>Beside these, whatever your plan, some operations have limits of their own. A request for one of them must fit into
both, and counts against both:</p>
<ul>${items}</ul>`;
}

function columnsOf(plans: readonly Plan[]): Window[] {
  const bySpan = new Map(
    plans
      .flatMap(({ windows }) => windows ?? [])
      .map((window) => [window.span, window]),
  );
  return [...bySpan.values()].sort((a, b) => a.span - b.span);
}

function row(
  { name, windows, count, concurrency, workers }: Plan,
  columns: readonly Window[],
): Html {
  const shared =
    count === 'account'
      ? html` <small>shared by all keys of an account</small>`
      : null;
  const atOnce =
    concurrency === undefined
      ? null
      : html` <small>at most ${number(concurrency)} at once</small>`;
  const sharers =
    workers === undefined
      ? null
      : html` <small>${counted(workers, 'worker')} may share a key</small>`;
  const cells =
    windows === null
      ? [
          html`<td colspan="${Math.max(1, columns.length)}">custom, agreed for each key or account</td>`,
        ]
      : columns.map(({ span }) =>
          cell(windows.filter((window) => window.span === span)),
        );
  const title = name.charAt(0).toUpperCase() + name.slice(1);
  return html`<tr><th scope="row">${title}${shared}${atOnce}${sharers}</th>${cells}</tr>`;
}

function cell(windows: readonly Window[]): Html {
  const amounts = windows.map((window) =>
    window.scope === undefined
      ? amount(window)
      : `${amount(window)} in this API`,
  );
  return html`<td>${amounts.join(', ') || 'no limit'}</td>`;
}

const REMARKS: Readonly<Record<string, string>> = { fixed: '' };

function amount({ kind, limit, zone }: Window): string {
  if (zone !== undefined) return `${number(limit)} (${kind}, ${zone})`;
  return number(limit) + (REMARKS[kind] ?? ` (${kind})`);
}

function bansText(bans: BanRules | null): Html {
  if (!bans)
    return html`<p>Keys are never banned for sending on, but a refused request stays refused.</p>`;
  const [first, ...later] = bans.durations.map(duration);
  const list = new Intl.ListFormat('en-GB').format(later);
  return html`<p><strong>Bans.</strong> A client that waits for <code>Retry-After</code> is never banned, also if
${workersText(bans)} share its key. A key that sends more requests while it is refused, ${counted(bans.strikes, 'time')} within
${duration(bans.window)}, is banned for ${first!}${later.length > 0 ? `, the next times for ${list}` : null}.
Each ${duration(bans.decay)} of good behaviour makes the next ban one step shorter again.</p>`;
}

const workersText = ({ workers, minWorkers }: BanRules): string =>
  workers === minWorkers
    ? `up to ${counted(workers, 'worker')}`
    : `as many workers as its limit has requests (at least ${minWorkers}, at most ${number(workers)})`;

const SPANS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
  ['millisecond', 1],
] as const;

/** In the largest exact unit: 300000 is "5 minutes". A day stays in hours: "24 hours". */
export function duration(milliseconds: number): string {
  if (milliseconds === 86_400_000) return '24 hours';
  const [unit, length] = SPANS.find(
    ([, length]) => milliseconds % length === 0,
  )!;
  return counted(milliseconds / length, unit);
}

/** "1 request", "60 requests". */
function counted(count: number, noun: string): string {
  return `${number(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** "100,000". */
function number(value: number): string {
  return value.toLocaleString('en');
}
