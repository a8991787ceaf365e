import { kindOf } from '../../../../src/limits/kinds.ts';
import type { Ladder, Window } from '../../../../src/limits/limits.ts';
import type { Plan, Plans } from '../../../../src/limits/plans.ts';
import { readScope } from '../../../../src/limits/scopes.ts';
import { type Html, html } from '../../../pages/src/html.ts';
import { capitalized, counted, duration, list, number } from './words.ts';

/** The limits of every plan, those that operations and tags have beside them, their headers, and the rules of bans. */
export function limitsSection({ plans, ladder }: Plans, scoped: readonly Window[] = []): Html {
  const all = [...plans.values()];
  const columns = columnsOf(all);
  return html`<section id="limits" aria-labelledby="limits-title">
<h2 id="limits-title">Plans and limits</h2>
<p>A request is let through when it fits into every limit of your plan, and then counts against all of them. A refused
request costs nothing. A request counts once unless its operation says otherwise.</p>
<div class="scroll" tabindex="0" role="region" aria-label="Limits of each plan">
<table class="plans">
<thead><tr><th scope="col">Plan</th>${columns.map(heading)}</tr></thead>
<tbody>${all.map((plan) => row(plan, columns))}</tbody>
</table>
</div>
${besides(scoped)}
<p>Every answer tells where you stand:</p>
<dl class="headers-told">
<div><dt><code>X-RateLimit-Limit</code></dt><dd>The limit with the least left, or the one that refused.</dd></div>
<div><dt><code>X-RateLimit-Remaining</code></dt><dd>Requests left in it.</dd></div>
<div><dt><code>X-RateLimit-Reset</code></dt><dd>When it starts anew, in Unix seconds.</dd></div>
<div><dt><code>RateLimit</code></dt><dd>All limits at once, with the seconds to wait.</dd></div>
</dl>
${bans(ladder)}
</section>`;
}

/** Limits that hold for every plan, in some operations alone. */
function besides(scoped: readonly Window[]): Html | null {
  if (scoped.length === 0) return null;
  const items = scoped.map((window) => {
    const { kind, name } = readScope(window.scope!);
    const what =
      kind === 'tag' ? html`All operations of <strong>${name}</strong> together` : html`<code>${name}</code>`;
    return html`<li>${what}: ${amount(window)} per ${window.name}</li>`;
  });
  return html`<p>Beside these, whatever your plan, some operations have limits of their own. A request for one of them must fit into
both, and counts against both:</p>
<ul>${items}</ul>`;
}

/** One column for each span that any plan limits; the shortest comes first. */
function columnsOf(plans: readonly Plan[]): Window[] {
  const bySpan = new Map(plans.flatMap(({ windows }) => windows ?? []).map((window) => [window.span, window]));
  return [...bySpan.values()].sort((a, b) => a.span - b.span);
}

function heading({ name }: Window): Html {
  return html`<th scope="col">per ${name}</th>`;
}

function row({ name, windows, count, concurrency }: Plan, columns: readonly Window[]): Html {
  const shared = count === 'account' ? html` <small>shared by all keys of an account</small>` : null;
  const atOnce = concurrency === undefined ? null : html` <small>at most ${number(concurrency)} at once</small>`;
  const cells =
    windows === null
      ? [html`<td colspan="${Math.max(1, columns.length)}">custom, agreed for each key or account</td>`]
      : columns.map(({ span }) => cell(windows.find((window) => window.span === span)));
  return html`<tr><th scope="row">${capitalized(name)}${shared}${atOnce}</th>${cells}</tr>`;
}

function cell(window: Window | undefined): Html {
  if (!window) return html`<td>no limit</td>`;
  return html`<td>${amount(window)}</td>`;
}

function amount(window: Window): string {
  const { remark } = kindOf(window);
  return `${number(window.limit)}${remark === null ? '' : ` (${remark})`}`;
}

function bans(ladder: Ladder | null): Html {
  if (!ladder) return html`<p>Keys are never banned for sending on, but a refused request stays refused.</p>`;
  const [first, ...later] = ladder.lengths.map(duration);
  return html`<p><strong>Bans.</strong> A key that keeps sending after it was refused, ${counted(ladder.strikes, 'time')} within
${duration(ladder.within)}, is banned for ${first!}${later.length > 0 ? `, the next times for ${list(later)}` : null}.
Each ${duration(ladder.forget)} of good behaviour makes the next ban one step shorter again.</p>`;
}
