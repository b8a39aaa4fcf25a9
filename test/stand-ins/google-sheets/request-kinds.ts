/** The requests of a batchUpdate that the stand-in carries out; others are answered with 501. */
export const requestKinds: ReadonlySet<string> = new Set([
  'addProtectedRange',
  'addSheet',
  'appendDimension',
  'createDeveloperMetadata',
  'deleteDeveloperMetadata',
  'deleteDimension',
  'deleteProtectedRange',
  'deleteSheet',
  'insertDimension',
  'mergeCells',
  'moveDimension',
  'repeatCell',
  'setDataValidation',
  'sortRange',
  'updateCells',
  'updateDeveloperMetadata',
  'updateDimensionProperties',
  'updateSheetProperties',
  'updateSpreadsheetProperties',
]);

/**
 * Schemas of things that the stand-in does not have. Only that they are objects is checked, since compiling all that
 * they refer to takes longer than most tests.
 */
export const unreadSchemas: ReadonlySet<string> = new Set([
  'BandedRange',
  'CommentAnchor',
  'CommentThread',
  'ConditionalFormatRule',
  'DataSource',
  'DataSourceFormula',
  'DataSourceRefreshSchedule',
  'DataSourceSheetProperties',
  'DataSourceTable',
  'EmbeddedChart',
  'FilterView',
  'PivotTable',
  'Slicer',
]);
