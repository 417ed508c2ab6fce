/** Words before the cursor, and what is offered for the last of them. */
export const CASES: readonly (readonly [readonly string[], readonly string[]])[] = [
  [['pat'], ['patientinsuranceplans', 'patients']],
  [['patients', 'bill'], ['billingtypes']],
  [
    ['patients', 'billingtypes', ''],
    ['list', 'set'],
  ],
  [['agingbal'], ['agingbalances']],
  [['aging', ''], ['report']],
  [['patients', 'list', '--form'], ['--format']],
  [['patients', 'list', '--format', 'nd'], ['ndjson']],
  [
    ['patients', 'list', '--fields', 'la'],
    ['languageType', 'lastModified', 'lastName'],
  ],
  [
    ['patients', 'list', '--fields', 'id,preferredLocation'],
    ['id,preferredLocation', 'id,preferredLocation.id'],
  ],
  [['patients', 'list', '--sort', '-lastN'], ['-lastName']],
  [['patients', 'list', '--sort', 'id,-lastN'], ['id,-lastName']],
  [
    ['patients', 'list', '--status', 'D'],
    ['DECEASED', 'DISMISSED', 'DUPLICATE'],
  ],
  [['patients', 'list', '--all', '--status', 'NE'], ['NEW']],
  [['patients', 'list', '--last-name', ''], []],
  [['transactiontags', 'create', '--tag-type', 'PAY'], ['PAYMENT_TAG']],
  [['config', 'get', 'page'], ['pageSize']],
  [['help', 'exit'], ['exit-codes']],
  [
    ['export', 'pat'],
    ['patientinsuranceplans', 'patients'],
  ],
  [['export', 'ver'], ['verify']],
  [['export', 'patients', 'transactions', 'transactiont'], ['transactiontags']],
  [['api', 'transactiont'], ['transactiontags']],
  [['api', 'PU'], ['PUT']],
  [
    ['autocomplete', ''],
    ['bash', 'fish', 'powershell', 'zsh'],
  ],
  [['query', '_mirr'], ['_mirror']],
  [
    ['query', 'v_p'],
    ['v_patient_insurance_plans', 'v_patients'],
  ],
  [['transactions', 'list', '--from', 'tod'], ['today']],
  [
    ['patients', 'list', '--filter', 'chart'],
    ['chartNumber.absent', 'chartNumber.eq=', 'chartNumber.present'],
  ],
  [['nosuch', ''], []],
];
