/**
 * The step of the schema with which a home counts its erasures. Never to be edited once released.
 *
 * `erasures`: those that took a text. An export that began before the last of them must end.
 */
export const countErasures = 'ALTER TABLE homes ADD COLUMN erasures BIGINT NOT NULL DEFAULT 0;'
