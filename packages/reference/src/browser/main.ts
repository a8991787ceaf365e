import { draw } from './draw.ts';
import { connectKey } from './key.ts';

// Operators send the session cookie of the console, which the browser adds: their page has no field for a key.
const form = document.getElementById('key');
const key = form === null ? null : connectKey(document);
const header = form?.dataset.header ?? '';

draw((request) => {
  const ours = new URL(request.url, location.href).origin === location.origin;
  if (ours && key?.secret) request.headers[header] = header === 'Authorization' ? `Bearer ${key.secret}` : key.secret;
});
