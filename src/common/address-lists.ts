/** `deny` wins. If `allow` has lists, all other addresses are refused. */
export interface AddressLists {
  readonly allow: readonly AddressList[];
  readonly deny: readonly AddressList[];
}

export interface AddressList {
  /** `null`: from the settings. */
  readonly file: string | null;
  readonly entries: readonly string[];
}

export const hasLists = ({ allow, deny }: AddressLists): boolean =>
  allow.length + deny.length > 0;

export function listsOf(
  allow: readonly string[],
  deny: readonly string[],
): AddressLists {
  const own = (entries: readonly string[]) =>
    entries.length === 0 ? [] : [{ file: null, entries }];
  return { allow: own(allow), deny: own(deny) };
}
