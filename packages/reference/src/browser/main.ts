import { connectKey } from './key.ts';
import { closeContentsWhenUsed, followLinks, rememberPlace, skipToContent } from './navigation.ts';
import { announcements } from './plugins/announcements.ts';
import { controls } from './plugins/controls.ts';
import { curlWithoutSecrets } from './plugins/curl.ts';
import { exactJson } from './plugins/exact-json.ts';
import { facts } from './plugins/facts.ts';
import { layout } from './plugins/layout.ts';
import { limits } from './plugins/limits.ts';
import { responses } from './plugins/responses.ts';
import { tryIt } from './plugins/try-it.ts';
import {
  asReceived,
  connectSystem,
  type OutgoingRequest,
  type SwaggerUi,
  type SwaggerUiSettings,
} from './swagger-ui.ts';

declare const SwaggerUIBundle: (settings: SwaggerUiSettings) => SwaggerUi;

function draw(send: (request: OutgoingRequest) => void): void {
  const domNode = document.getElementById('reference')!;
  closeContentsWhenUsed();
  skipToContent();
  const ui = SwaggerUIBundle({
    url: domNode.dataset.contract!,
    domNode,
    layout: 'Reference',
    plugins: [
      connectSystem,
      layout,
      tryIt,
      responses,
      exactJson,
      controls,
      announcements,
      rememberPlace,
      facts,
      limits,
      curlWithoutSecrets,
    ],
    validatorUrl: null, // The default sends a request to another host.
    defaultModelsExpandDepth: 2,
    defaultModelExpandDepth: 2,
    displayRequestDuration: false,
    requestInterceptor(request) {
      if (!request.loadSpec) send(request);
      return request;
    },
    responseInterceptor(response) {
      response.headers = asReceived(response.headers);
      return response;
    },
    onComplete: () => domNode.removeAttribute('aria-busy'),
  });

  // The contract arrives before its operations are drawn, and only a drawn operation can be opened.
  const drawn = new MutationObserver(() => {
    if (!domNode.querySelector('.opblock')) return;
    drawn.disconnect();
    followLinks(ui);
  });
  drawn.observe(domNode, { childList: true, subtree: true });
}

// Operators send the session cookie of the console, which the browser adds: their page has no field
// for a key.
const form = document.getElementById('key');
const key = form === null ? null : connectKey(document);
const header = form?.dataset.header ?? '';

draw((request) => {
  const ours = new URL(request.url, location.href).origin === location.origin;
  if (ours && key?.secret)
    request.headers[header] = header === 'Authorization' ? `Bearer ${key.secret}` : key.secret;
});
