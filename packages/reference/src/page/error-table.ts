import { type Html, html, withCode } from '@storegate/pages';

export interface ErrorWords {
  readonly code: string;
  readonly status: number;
  readonly title: string;
  /** For the client; names and headers are in backticks. */
  readonly advice: string;
}

export function errorsSection(errors: readonly ErrorWords[], note = ''): Html {
  return html`<section id="errors" aria-labelledby="errors-title">
<h2 id="errors-title">Errors and what to do</h2>
<p>Every error is an object with <code>code</code> for programs, <code>message</code> for people, and <code>status</code>. Quote
the <code>X-Request-Id</code> of the answer when you ask for help. ${note}</p>
<div class="errors" role="list">${errors.map(entry)}</div>
</section>`;
}

function entry({ code, status, title, advice }: ErrorWords): Html {
  return html`<div class="error" role="listitem" id="errors-${code}"><p><span class="status">${status}</span> <code>${code}</code></p>
<p>${title} <span class="advice">${withCode(advice)}</span></p></div>`;
}
