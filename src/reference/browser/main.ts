import { asReceived } from './headers.ts';
import { connectKey } from './key.ts';
import { closeContentsWhenUsed, followLinks, rememberPlace, skipToContent } from './navigation.ts';
import { announcing } from './plugins/announcing.ts';
import { controls } from './plugins/controls.ts';
import { curlWithoutKey } from './plugins/curl.ts';
import { exactJson } from './plugins/exact-json.ts';
import { facts } from './plugins/facts.ts';
import { layout } from './plugins/layout.ts';
import { responses } from './plugins/responses.ts';
import { standing } from './plugins/standing.ts';
import { tryIt } from './plugins/try-it.ts';
import type { SwaggerUi, SwaggerUiSettings } from './swagger-ui.ts';

declare const SwaggerUIBundle: (settings: SwaggerUiSettings) => SwaggerUi;

const domNode = document.getElementById('reference')!;
const key = connectKey(document);
closeContentsWhenUsed();
skipToContent();

const ui = SwaggerUIBundle({
  url: domNode.dataset.contract!,
  domNode,
  layout: 'Reference',
  plugins: [layout, tryIt, facts, responses, standing, exactJson, curlWithoutKey, controls, announcing, rememberPlace],
  validatorUrl: null, // The default asks another host.
  defaultModelsExpandDepth: 2,
  defaultModelExpandDepth: 2,
  displayRequestDuration: false,
  requestInterceptor(request) {
    const ours = new URL(request.url, location.href).origin === location.origin;
    if (ours && !request.loadSpec && key.secret !== null) request.headers['X-API-Key'] = key.secret;
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
