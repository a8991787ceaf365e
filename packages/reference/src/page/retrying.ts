import { type Html, html } from '@storegate/pages';

const SAMPLE = `async function send(url, options, attempt = 0) {
  const response = await fetch(url, options);
  if (![429, 503].includes(response.status) || attempt === 5) return response;
  const retryAfter = Number(response.headers.get('Retry-After') ?? 0);
  const more = 2 ** attempt * Math.random(); // so that clients do not come back all at once
  await new Promise((resolve) => setTimeout(resolve, (retryAfter + more) * 1000));
  return send(url, options, attempt + 1);
}`;

export function retryingSection(): Html {
  return html`<section id="retrying" aria-labelledby="retrying-title">
<h2 id="retrying-title">How to retry</h2>
<ol>
<li><strong>Wait as long as <code>Retry-After</code> says.</strong> It is in whole seconds, and never too short.</li>
<li><strong>Wait longer each time.</strong> Add a pause that doubles with every attempt (exponential backoff), with some
chance in it, and give up after a few.</li>
<li><strong>Know what is safe to repeat.</strong> After <code>429</code> and <code>503</code> nothing was done. After
<code>502</code> and <code>504</code> it may have been: repeat reads, and writes only if doing them twice does no harm.</li>
</ol>
<pre tabindex="0" aria-label="Example in JavaScript"><code>${SAMPLE}</code></pre>
</section>`;
}
