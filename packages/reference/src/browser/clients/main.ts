import { draw } from '../draw.ts';
import { facts } from '../plugins/facts.ts';
import { standing } from '../plugins/standing.ts';
import { curlWithoutKey } from './curl.ts';
import { connectKey } from './key.ts';
import { sentences } from './sentences.ts';

const key = connectKey(document);

draw([facts(sentences), standing, curlWithoutKey], (request) => {
  const ours = new URL(request.url, location.href).origin === location.origin;
  if (ours && key.secret !== null) request.headers['X-API-Key'] = key.secret;
});
