/**
 * As servers with variables read a name (RFC 3875 section 4.1.18): `X.Real_IP` is `X-Real-IP`. Some
 * fold `-` alone, others every character that a variable cannot have.
 */
export const foldedName = (name: string): string =>
  name.toLowerCase().replace(/[^a-z0-9]/g, '-');

export function withoutFields(
  fields: readonly string[],
  names: readonly string[],
): string[] {
  return fields.filter(
    (_, i) => !names.includes(fields[i - (i % 2)]!.toLowerCase()),
  );
}

/**
 * `fields` is flat (name, value, …), `name` in lower case. Several lines form one list (RFC 9110
 * section 5.3).
 */
export function fieldIn(
  fields: readonly string[],
  name: string,
): string | undefined {
  let value: string | undefined;
  for (let i = 0; i < fields.length; i += 2) {
    const one = fields[i]!;
    if (
      one.length !== name.length ||
      (one !== name && one.toLowerCase() !== name)
    )
      continue;
    value =
      value === undefined ? fields[i + 1]! : `${value}, ${fields[i + 1]!}`;
  }
  return value;
}
