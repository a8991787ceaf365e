import { h, render } from 'preact';
import { connectContents, followAddress, skipToContent } from './contents.ts';
import { connectForm, createSecrets, drawSchemes } from './key.ts';
import { type Api, createApi } from './model/api.ts';
import { ownSchemes } from './model/credentials.ts';
import type { ApiDocument } from './model/document.ts';
import { parseExact } from './model/json-text.ts';
import { App } from './parts/app.ts';
import { clientRequests, operatorRequests } from './session.ts';

const place = document.getElementById('reference')!;

async function draw(): Promise<void> {
  const response = await fetch(place.dataset.contract!);
  if (!response.ok)
    throw new Error(`The contract could not be read: ${response.status}`);
  const api = createApi(parseExact(await response.text()) as ApiDocument);
  // Operators send the session cookie of the console: their page has no field for a key.
  const form = document.getElementById('key') as HTMLFormElement | null;
  const request = form === null ? operatorRequests(api) : connectKey(form, api);
  place.replaceChildren();
  const { introduction } = place.dataset;
  render(h(App, { api, request, introduction }), place);
  followAddress();
}

function connectKey(form: HTMLFormElement, api: Api) {
  const headers = form.dataset.headers!.split(' ');
  const secrets = createSecrets();
  const schemes = ownSchemes(api, headers);
  drawSchemes(schemes);
  connectForm(form, secrets);
  return clientRequests(api, { headers, schemes, secrets });
}

connectContents();
skipToContent();
draw()
  .catch((error: unknown) => {
    const text = 'The contract could not be read. Try again later.';
    render(h('p', { role: 'alert' }, text), place);
    throw error;
  })
  .finally(() => place.removeAttribute('aria-busy'));
