/** What this engine selects of agents. */
export const AGENT_COLUMNS =
  'id, name, purpose, symbol, status, memory_count, created_at, updated_at'
