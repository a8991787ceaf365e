import { afterAll, beforeAll, describe } from '@jest/globals';
import { accessTests } from './browser/access.ts';
import { ReferenceFixture } from './browser/fixture.ts';
import { jsonSchemaTests } from './browser/json-schema.ts';
import { keyboardTests } from './browser/keyboard.ts';
import { largeTests } from './browser/large.ts';
import { namesTests } from './browser/names.ts';
import { readingTests } from './browser/reading.ts';
import { serversTests } from './browser/servers.ts';
import { tokensTests } from './browser/tokens.ts';
import { tryingTests } from './browser/trying.ts';
import { uploadingTests } from './browser/uploading.ts';

describe('the reference in a browser', () => {
  const fixture = new ReferenceFixture();
  beforeAll(() => fixture.start());
  afterAll(() => fixture.stop());

  readingTests(fixture);
  tryingTests(fixture);
  keyboardTests(fixture);
  accessTests(fixture);
  jsonSchemaTests(fixture);
  serversTests(fixture);
  namesTests(fixture);
  largeTests(fixture);
  tokensTests(fixture);
  uploadingTests(fixture);
});
