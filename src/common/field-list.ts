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
