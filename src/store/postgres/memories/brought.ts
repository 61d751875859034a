/**
 * Whether the row `l` of the log is of a version that an import brought as it was. Where a file was moved
 * to a server before schema 27, every version that it brought or changed names its event, and the
 * event's author only if that is not the version's. What it changed was never changed before its event.
 */
export const broughtAsItWas = (l: string): string => `
  (${l}.event_author IS NOT NULL
    OR (${l}.event IS NOT NULL AND (${l}.event <> ${l}.operation OR ${l}.happened_at > ${l}.updated_at)))`
