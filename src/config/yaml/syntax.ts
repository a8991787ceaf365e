import type { Document, ErrorCode, YAMLError } from 'yaml';

/** The parser's texts are about its internals. */
const sentences: Partial<Record<ErrorCode, string>> = {
  TAB_AS_INDENT: 'must be indented with spaces, not with a tab',
  MULTIPLE_DOCS: 'must be one YAML document; a second one starts here',
  BAD_DQ_ESCAPE: 'has an unknown escape in a double-quoted text; use single quotes to take it as it is',
  TAG_RESOLVE_FAILED: 'has a tag (!); write the plain value',
  BAD_DIRECTIVE: 'has a directive (%) that YAML 1.2 does not know',
  RESOURCE_EXHAUSTION: 'is nested too deep',
};

/** Only the first place, because the parser guesses at the rest. Its warnings about unknown tags are mistakes here. */
export function syntaxErrors(document: Pick<Document.Parsed, 'errors' | 'warnings'>) {
  const found: YAMLError[] = [...document.errors, ...document.warnings];
  const first = found.sort((a, b) => a.pos[0] - b.pos[0])[0];
  return first === undefined
    ? []
    : [{ offset: first.pos[0], pointer: '', message: sentences[first.code] ?? plain(first.message) }];
}

/** Without the source text, which could be secret. */
function plain(message: string): string {
  const words = message.replace(/: .*$/s, '');
  return `is not valid YAML here: ${words.charAt(0).toLowerCase()}${words.slice(1)}`;
}
