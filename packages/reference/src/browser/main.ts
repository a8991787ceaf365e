import { draw } from './draw.ts';
import { connectKey } from './key.ts';

// Operators send the session cookie of the console, which the browser adds: their page has no field for a key.
const key = document.getElementById('key') === null ? null : connectKey(document);

draw((request) => {
  const ours = new URL(request.url, location.href).origin === location.origin;
  if (ours && key?.secret) request.headers['X-API-Key'] = key.secret;
});
