import type { FieldType } from './value.ts';

/**
 * What people call a field in the heading of a column, in English and German, with commas between; case, accents, umlauts (ä or
 * ae), blanks and signs do not matter.
 */
export interface Words {
  /** Nothing else is meant by these. */
  readonly sure: string;
  /** These may mean something else. */
  readonly unsure: string;
}

/** A field of the API reference (section 2). */
interface LeadField extends Words {
  /** The usual heading of its column. */
  readonly column: string;
  readonly type: FieldType;
  /** Its property in HubSpot; absent: `lead_` and its name. */
  readonly hubspot?: string;
}

/** All of them but the id, in the order of their columns. */
export const leadFields: Readonly<Record<string, LeadField>> = {
  companyName: {
    column: 'Company',
    type: 'text',
    hubspot: 'name',
    sure: `Company, Company name, Name of company, Organisation, Organization, Organisation name, Organization name,
    Account name, Customer, Customer name, Client, Client name, Firma, Firmenname, Name der Firma, Unternehmen,
    Unternehmensname, Firmenbezeichnung, Kunde, Kundenname, Betrieb`,
    unsure: 'Name, Account, Lead, Lead name, Business, Prospect, Interessent, Bezeichnung',
  },
  segment: {
    column: 'Segment',
    type: 'text',
    sure: 'Segment, Customer segment, Market segment, Kundensegment, Marktsegment, Kundengruppe',
    unsure: 'Industry, Sector, Branche, Category, Kategorie, Sparte, Type, Typ, Zielgruppe',
  },
  city: {
    column: 'City',
    type: 'text',
    hubspot: 'city',
    sure: 'City, City name, Town, Stadt, Ort, Ortschaft, Wohnort',
    unsure: 'Location, Place, Standort, Sitz, Firmensitz, Headquarters, Gemeinde',
  },
  region: {
    column: 'Region',
    type: 'text',
    hubspot: 'state',
    sure: 'Region, Sales region, Bundesland, Vertriebsregion, Federal state, Province',
    unsure: 'State, Area, Territory, County, Land, Gebiet, Kanton, Vertriebsgebiet, Bezirk',
  },
  stage: {
    column: 'Stage',
    type: 'text',
    sure: `Stage, Lead stage, Sales stage, Deal stage, Pipeline stage, Lead status, Phase, Vertriebsphase, Verkaufsphase,
    Vertriebsstufe, Verkaufsstufe, Stufe`,
    unsure: 'Status, State, Pipeline, Stand, Lifecycle stage, Bearbeitungsstand',
  },
  nextFollowUpAt: {
    column: 'Next follow-up',
    type: 'instant',
    hubspot: 'lead_next_follow_up',
    sure: `Next follow-up, Follow-up, Follow-up date, Next follow-up at, Next follow-up date, Follow-up on, Follow-up at,
    Next call, Next contact, Call back, Callback date, Wiedervorlage, Nächste Wiedervorlage, Wiedervorlage am,
    Datum Wiedervorlage, Wiedervorlagedatum, Nächster Kontakt, Nächster Anruf, Nächste Kontaktaufnahme, Nachfassen,
    Nachfassen am, Nächster Nachfasstermin, Rückruf, Rückruf am`,
    unsure: `Reminder, Next step, Next meeting, Next appointment, Next action, Due, Due date, Erinnerung, Termin,
    Nächster Termin, Nächster Schritt, Fällig, Fällig am, Kontakt am`,
  },
};

/** The column with the Leads service's ids; another "ID" may be a number of the people's own. */
export const idWords: Words = {
  sure: 'Lead ID, ID of lead, Lead UUID, ID des Leads',
  unsure: 'ID, UUID, Lead number, Lead no, Leadnummer, Lead-Nr, External ID, Externe ID',
};
