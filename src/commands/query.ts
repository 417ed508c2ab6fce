import { QueryCommand, queryArguments, queryFlags } from '../cli/query/querycommand.ts';

export default class Query extends QueryCommand {
  static override summary = 'Read the mirror by SQL';
  static override description =
    'One statement that only reads: SELECT, WITH, VALUES, EXPLAIN, or a PRAGMA that tells. Rows are written as they arrive, in every format of lists. molar mirror tables shows tables and columns; molar help queries has examples.';
  static override examples = [
    "<%= config.bin %> query 'SELECT patient_status, count(*) FROM patients GROUP BY 1'",
    "<%= config.bin %> query 'SELECT * FROM v_ledger WHERE patient_id = :patient' --param patient=5 --out ledger.xlsx",
    '<%= config.bin %> query --file month.sql --param from=2026-11-01 --csv',
    '<%= config.bin %> query --name overdue --timeout 30s --json',
    "<%= config.bin %> query 'SELECT count(*) FROM patients' --from postgres://analyst@db.example/practice",
  ];
  static override args = queryArguments;
  static override flags = queryFlags;
}
