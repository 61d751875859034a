-- Distributes the tables of the homes over the workers of a Citus cluster, each home on one of them;
-- all other tables stay on the coordinator. See docs/citus.md. With the nodes stopped, and as the
-- owner of the database: psql -v ON_ERROR_STOP=1 -f deploy/citus.sql
-- It takes an empty or a full database, and does nothing to what it has distributed before.

BEGIN;
SET LOCAL client_min_messages = warning;

-- Which home a token opens: credentials are found by their home. On the coordinator, because each
-- worker would otherwise hold a part of the tokens of every other worker's homes. From where it
-- exists, the nodes keep it up to date in the transactions that change tokens.
CREATE TABLE IF NOT EXISTS token_homes (
  token_hash TEXT PRIMARY KEY,
  agent_id TEXT COLLATE "C" NOT NULL
);
CREATE INDEX IF NOT EXISTS token_homes_by_agent ON token_homes (agent_id);
TRUNCATE token_homes;
INSERT INTO token_homes (token_hash, agent_id)
  SELECT token_hash, agent_id FROM credentials
  UNION SELECT replaced_hash, agent_id FROM operator_replacements;

-- Accounts stay on the coordinator, and no table on a worker can refer to them.
ALTER TABLE agents DROP CONSTRAINT IF EXISTS agents_account_id_fkey;

DO $$
DECLARE
  -- Those that others refer to come first.
  tables TEXT[] := ARRAY['agents', 'credentials', 'operator_replacements', 'homes', 'memories',
    'vectors', 'log', 'unfinished', 'keyed_appends', 'daily_writes', 'daily_calls'];
  name TEXT;
BEGIN
  FOREACH name IN ARRAY tables LOOP
    CONTINUE WHEN EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = name::REGCLASS);
    PERFORM create_distributed_table(name, 'agent_id',
      colocate_with => CASE name WHEN 'agents' THEN 'none' ELSE 'agents' END);
  END LOOP;
  -- The rows were copied to the workers: what the coordinator still holds of them is not read.
  FOREACH name IN ARRAY tables LOOP
    PERFORM truncate_local_data_after_distributing_table(name::REGCLASS);
  END LOOP;
END $$;

COMMIT;
