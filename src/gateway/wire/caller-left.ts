/** The caller closed its connection before the answer was complete. This is no fault, and no answer can be sent. */
export class CallerLeft extends Error {
  override name = 'CallerLeft';
}
