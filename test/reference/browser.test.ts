import { afterAll, beforeAll, describe } from '@jest/globals';
import { accessTests } from './browser/access.ts';
import { jsonSchemaTests } from './browser/json-schema.ts';
import { keyboardTests } from './browser/keyboard.ts';
import { largeTests } from './browser/large.ts';
import { namesTests } from './browser/names.ts';
import { readingTests } from './browser/reading.ts';
import { serversTests } from './browser/servers.ts';
import { ReferenceStand } from './browser/stand.ts';
import { tokensTests } from './browser/tokens.ts';
import { tryingTests } from './browser/trying.ts';
import { uploadingTests } from './browser/uploading.ts';

describe('the reference in a browser', () => {
  const stand = new ReferenceStand();
  beforeAll(() => stand.start());
  afterAll(() => stand.stop());

  readingTests(stand);
  tryingTests(stand);
  keyboardTests(stand);
  accessTests(stand);
  jsonSchemaTests(stand);
  serversTests(stand);
  namesTests(stand);
  largeTests(stand);
  tokensTests(stand);
  uploadingTests(stand);
});
