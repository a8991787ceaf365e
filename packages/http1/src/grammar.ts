import { malformed, type WireError } from './wire-error.ts';

/** RFC 9110 section 5.6.2. */
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
/** ASCII, without a fragment. */
const TARGET = '[!"$-~]+';
/** RFC 9110 section 5.5. */
const TEXT = '[\\t\\x20-\\x7e\\x80-\\xff]*';

export const IS_TOKEN: RegExp = new RegExp(`^${TOKEN}$`);
export const IS_TARGET: RegExp = new RegExp(`^${TARGET}$`);

/**
 * RFC 9112 section 5, without space before a colon, folded line, bare CR or LF. Each character
 * matches in one way, so the time is linear.
 */
export const FIELD_SECTION: RegExp = new RegExp(
  `^(?:${TOKEN}:${TEXT}\\r\\n)*\\r\\n$`,
);

/** RFC 9112 section 3: one SP between the parts and only unambiguous bytes in the target. */
export const REQUEST_LINE: RegExp = new RegExp(
  `^(${TOKEN}) (${TARGET}) HTTP/(\\d)\\.(\\d)$`,
);

/** RFC 9112 section 4. Many servers omit the space before an empty reason phrase. */
export const STATUS_LINE: RegExp = new RegExp(
  `^HTTP/1\\.([01]) ([1-9]\\d\\d)(?: (${TEXT}))?$`,
);

/** RFC 9112 section 7.1.1, without spaces; 13 digits stay exact in a number. */
export const CHUNK_LINE: RegExp = new RegExp(
  `^([0-9A-Fa-f]{1,13})((?:;${TOKEN}(?:=(?:${TOKEN}|"(?:[\\t !#-[\\]-~\\x80-\\xff]|\\\\[\\t -~\\x80-\\xff])*"))?)*)$`,
);

/** A byte that no head may contain; a CR or LF that does not end a line. */
const FORBIDDEN = /[^\t\n\r -~\x80-\xff]|\r[^\n]|[^\r]\n/;
const EMPTY_LINE = /^(?:\n|\r[\s\S])/;

/** Refuses other protocols at once. */
export function mayBecomeHead(text: string, fromStart: boolean): boolean {
  return !FORBIDDEN.test(text) && !(fromStart && EMPTY_LINE.test(text));
}

/** Describes the fault without quoting the section. */
export function faultInFields(section: string): WireError {
  if (FORBIDDEN.test(section))
    return malformed(
      'A header line has a control character, or an end other than CR LF. Remove the character, or end lines with CR LF.',
    );
  for (const line of section.split('\r\n')) {
    if (line.startsWith(' ') || line.startsWith('\t'))
      return malformed(
        'A header line is folded. Send each header in one line.',
      );
    const colon = line.indexOf(':');
    if (line !== '' && colon < 0)
      return malformed(
        'A header line has no colon. Send a name, a colon and a value.',
      );
    if (line !== '' && !IS_TOKEN.test(line.slice(0, colon))) {
      return malformed(
        'The name of a header is empty, or has a character that names cannot have, such as a space. Correct the name.',
      );
    }
  }
  return malformed(
    'The header section is not valid. Send lines of a name, a colon and a value.',
  );
}
