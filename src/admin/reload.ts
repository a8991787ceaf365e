/** What a reload did. */
export interface Reloaded {
  /** Settings, and files, that are different now. */
  readonly changed: readonly string[];
  /** Settings that are different in the files, but stay as they were until a restart. */
  readonly needRestart: readonly string[];
}
