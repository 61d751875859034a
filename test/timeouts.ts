/** Only against a hang: no test measures time. `TEST_SLOWNESS` makes all of them longer. */

/** How many times slower than two quiet cores the machine is. */
const SLOWNESS = Number(process.env.TEST_SLOWNESS ?? 1)

export const TEST_MS = 120_000 * SLOWNESS

/** Of what needs minutes: all of `npm run test:system`, and elsewhere what runs a whole program. */
export const LONG_TEST_MS = 900_000 * SLOWNESS

/** What is waited for comes, or never does. */
export const POLL_MS = 60_000 * SLOWNESS
