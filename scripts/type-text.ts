/** An object of these members, in one line if it is short. */
export function objectText(members: readonly string[], indent: string): string {
  const short = `{ ${members.join('; ')} }`;
  if (indent !== '' && short.length < 90) return short;
  return `{\n${members.map((member) => `${indent}  ${member};\n`).join('')}${indent}}`;
}

export const listText = (type: string): string =>
  `readonly ${/^(\w+|\{.*\})$/s.test(type) ? type : `(${type})`}[]`;
