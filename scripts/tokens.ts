const COMMENT =
  /(`(?:\\.|[^`\\])*`|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
const TOKEN =
  /`(?:\\.|[^`\\])*`|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[A-Za-z_$][\w$]*|\d[\w.]*|=>|==+|!=+|<=|>=|&&|\|\||\?\?|\?\.|\.\.\.|[-+*/%&|^]=|\+\+|--|[^\s\w]/g;

/**
 * The number of identifiers, literals and operators. Unlike lines, it does not depend on the width
 * of the text.
 */
export function tokensIn(text: string): number {
  const code = text.replace(COMMENT, (_comment, literal: string | undefined) => literal ?? ' ');
  return code.match(TOKEN)?.length ?? 0;
}
