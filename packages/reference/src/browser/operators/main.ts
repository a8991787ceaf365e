import { draw } from '../draw.ts';
import { facts } from '../plugins/facts.ts';
import { curlWithToken } from './curl.ts';
import { sentences } from './sentences.ts';

// What a reader tries goes out with the cookie of their session at the console, which the browser adds.
draw([facts(sentences), curlWithToken]);
