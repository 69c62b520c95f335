"""The relations of PostgreSQL's catalogue that tools read, with their columns, as PostgreSQL 15 has them.

A column is text unless a letter says otherwise: o is the number of an object, l and i are whole numbers of 64 and 32 bits, f real numbers,
b true or false, m timestamps, T lists of texts, I lists of whole numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

DUCKDB_TYPES = {  # by letter
    "t": "VARCHAR",
    "o": "UINTEGER",
    "i": "INTEGER",
    "l": "BIGINT",
    "f": "DOUBLE",
    "b": "BOOLEAN",
    "m": "TIMESTAMP",
    "T": "VARCHAR[]",
    "I": "INTEGER[]",
}


@cache
def relations() -> Mapping[tuple[str, str], tuple[tuple[str, str], ...]]:
    """The columns of each relation, by schema and name: their names and letters."""
    found: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {}
    for line in _RELATIONS.replace("\n  ", " ").strip().splitlines():
        place, _, columns = line.partition(": ")
        schema, _, name = place.partition(".")
        found[schema, name] = tuple((column, letter or "t") for column, _, letter in (one.partition(":") for one in columns.split()))
    return found


_RELATIONS = """
information_schema.applicable_roles: grantee role_name is_grantable
information_schema.character_sets: character_set_catalog character_set_schema character_set_name character_repertoire form_of_use
  default_collate_catalog default_collate_schema default_collate_name
information_schema.check_constraints: constraint_catalog constraint_schema constraint_name check_clause
information_schema.column_privileges: grantor grantee table_catalog table_schema table_name column_name privilege_type is_grantable
information_schema.columns: table_catalog table_schema table_name column_name ordinal_position:i column_default is_nullable data_type
  character_maximum_length:i character_octet_length:i numeric_precision:i numeric_precision_radix:i numeric_scale:i datetime_precision:i
  interval_type interval_precision:i character_set_catalog character_set_schema character_set_name collation_catalog collation_schema
  collation_name domain_catalog domain_schema domain_name udt_catalog udt_schema udt_name scope_catalog scope_schema scope_name
  maximum_cardinality:i dtd_identifier is_self_referencing is_identity identity_generation identity_start identity_increment
  identity_maximum identity_minimum identity_cycle is_generated generation_expression is_updatable
information_schema.constraint_column_usage: table_catalog table_schema table_name column_name constraint_catalog constraint_schema
  constraint_name
information_schema.constraint_table_usage: table_catalog table_schema table_name constraint_catalog constraint_schema constraint_name
information_schema.domains: domain_catalog domain_schema domain_name data_type character_maximum_length:i character_octet_length:i
  character_set_catalog character_set_schema character_set_name collation_catalog collation_schema collation_name numeric_precision:i
  numeric_precision_radix:i numeric_scale:i datetime_precision:i interval_type interval_precision:i domain_default udt_catalog udt_schema
  udt_name scope_catalog scope_schema scope_name maximum_cardinality:i dtd_identifier
information_schema.element_types: object_catalog object_schema object_name object_type collection_type_identifier data_type
  character_maximum_length:i character_octet_length:i character_set_catalog character_set_schema character_set_name collation_catalog
  collation_schema collation_name numeric_precision:i numeric_precision_radix:i numeric_scale:i datetime_precision:i interval_type
  interval_precision:i domain_default udt_catalog udt_schema udt_name scope_catalog scope_schema scope_name maximum_cardinality:i
  dtd_identifier
information_schema.enabled_roles: role_name
information_schema.key_column_usage: constraint_catalog constraint_schema constraint_name table_catalog table_schema table_name
  column_name ordinal_position:i position_in_unique_constraint:i
information_schema.parameters: specific_catalog specific_schema specific_name ordinal_position:i parameter_mode is_result as_locator
  parameter_name data_type character_maximum_length:i character_octet_length:i character_set_catalog character_set_schema
  character_set_name collation_catalog collation_schema collation_name numeric_precision:i numeric_precision_radix:i numeric_scale:i
  datetime_precision:i interval_type interval_precision:i udt_catalog udt_schema udt_name scope_catalog scope_schema scope_name
  maximum_cardinality:i dtd_identifier parameter_default
information_schema.referential_constraints: constraint_catalog constraint_schema constraint_name unique_constraint_catalog
  unique_constraint_schema unique_constraint_name match_option update_rule delete_rule
information_schema.role_table_grants: grantor grantee table_catalog table_schema table_name privilege_type is_grantable with_hierarchy
information_schema.routines: specific_catalog specific_schema specific_name routine_catalog routine_schema routine_name routine_type
  module_catalog module_schema module_name udt_catalog udt_schema udt_name data_type character_maximum_length:i character_octet_length:i
  character_set_catalog character_set_schema character_set_name collation_catalog collation_schema collation_name numeric_precision:i
  numeric_precision_radix:i numeric_scale:i datetime_precision:i interval_type interval_precision:i type_udt_catalog type_udt_schema
  type_udt_name scope_catalog scope_schema scope_name maximum_cardinality:i dtd_identifier routine_body routine_definition external_name
  external_language parameter_style is_deterministic sql_data_access is_null_call sql_path schema_level_routine max_dynamic_result_sets:i
  is_user_defined_cast is_implicitly_invocable security_type to_sql_specific_catalog to_sql_specific_schema to_sql_specific_name
  as_locator created:m last_altered:m new_savepoint_level is_udt_dependent result_cast_from_data_type result_cast_as_locator
  result_cast_char_max_length:i result_cast_char_octet_length:i result_cast_char_set_catalog result_cast_char_set_schema
  result_cast_char_set_name result_cast_collation_catalog result_cast_collation_schema result_cast_collation_name
  result_cast_numeric_precision:i result_cast_numeric_precision_radix:i result_cast_numeric_scale:i result_cast_datetime_precision:i
  result_cast_interval_type result_cast_interval_precision:i result_cast_type_udt_catalog result_cast_type_udt_schema
  result_cast_type_udt_name result_cast_scope_catalog result_cast_scope_schema result_cast_scope_name result_cast_maximum_cardinality:i
  result_cast_dtd_identifier
information_schema.schemata: catalog_name schema_name schema_owner default_character_set_catalog default_character_set_schema
  default_character_set_name sql_path
information_schema.sequences: sequence_catalog sequence_schema sequence_name data_type numeric_precision:i numeric_precision_radix:i
  numeric_scale:i start_value minimum_value maximum_value increment cycle_option
information_schema.table_constraints: constraint_catalog constraint_schema constraint_name table_catalog table_schema table_name
  constraint_type is_deferrable initially_deferred enforced nulls_distinct
information_schema.table_privileges: grantor grantee table_catalog table_schema table_name privilege_type is_grantable with_hierarchy
information_schema.tables: table_catalog table_schema table_name table_type self_referencing_column_name reference_generation
  user_defined_type_catalog user_defined_type_schema user_defined_type_name is_insertable_into is_typed commit_action
information_schema.triggers: trigger_catalog trigger_schema trigger_name event_manipulation event_object_catalog event_object_schema
  event_object_table action_order:i action_condition action_statement action_orientation action_timing action_reference_old_table
  action_reference_new_table action_reference_old_row action_reference_new_row created:m
information_schema.views: table_catalog table_schema table_name view_definition check_option is_updatable is_insertable_into
  is_trigger_updatable is_trigger_deletable is_trigger_insertable_into
pg_catalog.pg_aggregate: aggfnoid aggkind aggnumdirectargs:i aggtransfn aggfinalfn aggcombinefn aggserialfn aggdeserialfn aggmtransfn
  aggminvtransfn aggmfinalfn aggfinalextra:b aggmfinalextra:b aggfinalmodify aggmfinalmodify aggsortop:o aggtranstype:o aggtransspace:i
  aggmtranstype:o aggmtransspace:i agginitval aggminitval
pg_catalog.pg_am: oid:o amname amhandler amtype
pg_catalog.pg_attrdef: oid:o adrelid:o adnum:i adbin
pg_catalog.pg_attribute: attrelid:o attname atttypid:o attstattarget:i attlen:i attnum:i attndims:i attcacheoff:i atttypmod:i attbyval:b
  attalign attstorage attcompression attnotnull:b atthasdef:b atthasmissing:b attidentity attgenerated attisdropped:b attislocal:b
  attinhcount:i attcollation:o attacl:T attoptions:T attfdwoptions:T attmissingval:T
pg_catalog.pg_auth_members: roleid:o member:o grantor:o admin_option:b
pg_catalog.pg_authid: oid:o rolname rolsuper:b rolinherit:b rolcreaterole:b rolcreatedb:b rolcanlogin:b rolreplication:b rolbypassrls:b
  rolconnlimit:i rolpassword rolvaliduntil:m
pg_catalog.pg_cast: oid:o castsource:o casttarget:o castfunc:o castcontext castmethod
pg_catalog.pg_class: oid:o relname relnamespace:o reltype:o reloftype:o relowner:o relam:o relfilenode:o reltablespace:o relpages:i
  reltuples:f relallvisible:i reltoastrelid:o relhasindex:b relisshared:b relpersistence relkind relnatts:i relchecks:i relhasrules:b
  relhastriggers:b relhassubclass:b relrowsecurity:b relforcerowsecurity:b relispopulated:b relreplident relispartition:b relrewrite:o
  relfrozenxid:l relminmxid:l relacl:T reloptions:T relpartbound
pg_catalog.pg_collation: oid:o collname collnamespace:o collowner:o collprovider collisdeterministic:b collencoding:i collcollate
  collctype colliculocale collversion
pg_catalog.pg_constraint: oid:o conname connamespace:o contype condeferrable:b condeferred:b convalidated:b conrelid:o contypid:o
  conindid:o conparentid:o confrelid:o confupdtype confdeltype confmatchtype conislocal:b coninhcount:i connoinherit:b conkey:I confkey:I
  conpfeqop:I conppeqop:I conffeqop:I confdelsetcols:I conexclop:I conbin
pg_catalog.pg_database: oid:o datname datdba:o encoding:i datlocprovider datistemplate:b datallowconn:b datconnlimit:i datfrozenxid:l
  datminmxid:l dattablespace:o datcollate datctype daticulocale datcollversion datacl:T
pg_catalog.pg_depend: classid:o objid:o objsubid:i refclassid:o refobjid:o refobjsubid:i deptype
pg_catalog.pg_description: objoid:o classoid:o objsubid:i description
pg_catalog.pg_enum: oid:o enumtypid:o enumsortorder:f enumlabel
pg_catalog.pg_event_trigger: oid:o evtname evtevent evtowner:o evtfoid:o evtenabled evttags:T
pg_catalog.pg_extension: oid:o extname extowner:o extnamespace:o extrelocatable:b extversion extconfig:I extcondition:T
pg_catalog.pg_foreign_data_wrapper: oid:o fdwname fdwowner:o fdwhandler:o fdwvalidator:o fdwacl:T fdwoptions:T
pg_catalog.pg_foreign_server: oid:o srvname srvowner:o srvfdw:o srvtype srvversion srvacl:T srvoptions:T
pg_catalog.pg_foreign_table: ftrelid:o ftserver:o ftoptions:T
pg_catalog.pg_group: groname grosysid:o grolist:I
pg_catalog.pg_index: indexrelid:o indrelid:o indnatts:i indnkeyatts:i indisunique:b indnullsnotdistinct:b indisprimary:b indisexclusion:b
  indimmediate:b indisclustered:b indisvalid:b indcheckxmin:b indisready:b indislive:b indisreplident:b indkey:I indcollation:I indclass:I
  indoption:I indexprs indpred
pg_catalog.pg_indexes: schemaname tablename indexname tablespace indexdef
pg_catalog.pg_inherits: inhrelid:o inhparent:o inhseqno:i inhdetachpending:b
pg_catalog.pg_language: oid:o lanname lanowner:o lanispl:b lanpltrusted:b lanplcallfoid:o laninline:o lanvalidator:o lanacl:T
pg_catalog.pg_locks: locktype database:o relation:o page:i tuple:i virtualxid transactionid:l classid:o objid:o objsubid:i
  virtualtransaction pid:i mode granted:b fastpath:b waitstart:m
pg_catalog.pg_matviews: schemaname matviewname matviewowner tablespace hasindexes:b ispopulated:b definition
pg_catalog.pg_namespace: oid:o nspname nspowner:o nspacl:T
pg_catalog.pg_opclass: oid:o opcmethod:o opcname opcnamespace:o opcowner:o opcfamily:o opcintype:o opcdefault:b opckeytype:o
pg_catalog.pg_operator: oid:o oprname oprnamespace:o oprowner:o oprkind oprcanmerge:b oprcanhash:b oprleft:o oprright:o oprresult:o
  oprcom:o oprnegate:o oprcode oprrest oprjoin
pg_catalog.pg_partitioned_table: partrelid:o partstrat partnatts:i partdefid:o partattrs:I partclass:I partcollation:I partexprs
pg_catalog.pg_policies: schemaname tablename policyname permissive roles:T cmd qual with_check
pg_catalog.pg_policy: oid:o polname polrelid:o polcmd polpermissive:b polroles:I polqual polwithcheck
pg_catalog.pg_proc: oid:o proname pronamespace:o proowner:o prolang:o procost:f prorows:f provariadic:o prosupport prokind prosecdef:b
  proleakproof:b proisstrict:b proretset:b provolatile proparallel pronargs:i pronargdefaults:i prorettype:o proargtypes:I
  proallargtypes:I proargmodes:T proargnames:T proargdefaults protrftypes:I prosrc probin prosqlbody proconfig:T proacl:T
pg_catalog.pg_publication: oid:o pubname pubowner:o puballtables:b pubinsert:b pubupdate:b pubdelete:b pubtruncate:b pubviaroot:b
pg_catalog.pg_publication_namespace: oid:o pnpubid:o pnnspid:o
pg_catalog.pg_publication_rel: oid:o prpubid:o prrelid:o prqual prattrs:I
pg_catalog.pg_range: rngtypid:o rngsubtype:o rngmultitypid:o rngcollation:o rngsubopc:o rngcanonical rngsubdiff
pg_catalog.pg_rewrite: oid:o rulename ev_class:o ev_type ev_enabled is_instead:b ev_qual ev_action
pg_catalog.pg_roles: rolname rolsuper:b rolinherit:b rolcreaterole:b rolcreatedb:b rolcanlogin:b rolreplication:b rolconnlimit:i
  rolpassword rolvaliduntil:m rolbypassrls:b rolconfig:T oid:o
pg_catalog.pg_rules: schemaname tablename rulename definition
pg_catalog.pg_sequence: seqrelid:o seqtypid:o seqstart:l seqincrement:l seqmax:l seqmin:l seqcache:l seqcycle:b
pg_catalog.pg_sequences: schemaname sequencename sequenceowner data_type start_value:l min_value:l max_value:l increment_by:l cycle:b
  cache_size:l last_value:l
pg_catalog.pg_settings: name setting unit category short_desc extra_desc context vartype source min_val max_val enumvals:T boot_val
  reset_val sourcefile sourceline:i pending_restart:b
pg_catalog.pg_shadow: usename usesysid:o usecreatedb:b usesuper:b userepl:b usebypassrls:b passwd valuntil:m useconfig:T
pg_catalog.pg_shdescription: objoid:o classoid:o description
pg_catalog.pg_stat_activity: datid:o datname pid:i leader_pid:i usesysid:o usename application_name client_addr client_hostname
  client_port:i backend_start:m xact_start:m query_start:m state_change:m wait_event_type wait_event state backend_xid:l backend_xmin:l
  query_id:l query backend_type
pg_catalog.pg_stat_all_tables: relid:o schemaname relname seq_scan:l seq_tup_read:l idx_scan:l idx_tup_fetch:l n_tup_ins:l n_tup_upd:l
  n_tup_del:l n_tup_hot_upd:l n_live_tup:l n_dead_tup:l n_mod_since_analyze:l n_ins_since_vacuum:l last_vacuum:m last_autovacuum:m
  last_analyze:m last_autoanalyze:m vacuum_count:l autovacuum_count:l analyze_count:l autoanalyze_count:l
pg_catalog.pg_stat_database: datid:o datname numbackends:i xact_commit:l xact_rollback:l blks_read:l blks_hit:l tup_returned:l
  tup_fetched:l tup_inserted:l tup_updated:l tup_deleted:l conflicts:l temp_files:l temp_bytes:l deadlocks:l checksum_failures:l
  checksum_last_failure:m blk_read_time:f blk_write_time:f session_time:f active_time:f idle_in_transaction_time:f sessions:l
  sessions_abandoned:l sessions_fatal:l sessions_killed:l stats_reset:m
pg_catalog.pg_stat_user_tables: relid:o schemaname relname seq_scan:l seq_tup_read:l idx_scan:l idx_tup_fetch:l n_tup_ins:l n_tup_upd:l
  n_tup_del:l n_tup_hot_upd:l n_live_tup:l n_dead_tup:l n_mod_since_analyze:l n_ins_since_vacuum:l last_vacuum:m last_autovacuum:m
  last_analyze:m last_autoanalyze:m vacuum_count:l autovacuum_count:l analyze_count:l autoanalyze_count:l
pg_catalog.pg_statio_user_tables: relid:o schemaname relname heap_blks_read:l heap_blks_hit:l idx_blks_read:l idx_blks_hit:l
  toast_blks_read:l toast_blks_hit:l tidx_blks_read:l tidx_blks_hit:l
pg_catalog.pg_statistic_ext: oid:o stxrelid:o stxname stxnamespace:o stxowner:o stxstattarget:i stxkeys:I stxkind:T stxexprs
pg_catalog.pg_stats: schemaname tablename attname inherited:b null_frac:f avg_width:i n_distinct:f most_common_vals:T most_common_freqs:T
  histogram_bounds:T correlation:f most_common_elems:T most_common_elem_freqs:T elem_count_histogram:T
pg_catalog.pg_tables: schemaname tablename tableowner tablespace hasindexes:b hasrules:b hastriggers:b rowsecurity:b
pg_catalog.pg_tablespace: oid:o spcname spcowner:o spcacl:T spcoptions:T
pg_catalog.pg_timezone_names: name abbrev utc_offset is_dst:b
pg_catalog.pg_trigger: oid:o tgrelid:o tgparentid:o tgname tgfoid:o tgtype:i tgenabled tgisinternal:b tgconstrrelid:o tgconstrindid:o
  tgconstraint:o tgdeferrable:b tginitdeferred:b tgnargs:i tgattr:I tgargs tgqual tgoldtable tgnewtable
pg_catalog.pg_ts_config: oid:o cfgname cfgnamespace:o cfgowner:o cfgparser:o
pg_catalog.pg_type: oid:o typname typnamespace:o typowner:o typlen:i typbyval:b typtype typcategory typispreferred:b typisdefined:b
  typdelim typrelid:o typsubscript typelem:o typarray:o typinput typoutput typreceive typsend typmodin typmodout typanalyze typalign
  typstorage typnotnull:b typbasetype:o typtypmod:i typndims:i typcollation:o typdefaultbin typdefault typacl:T
pg_catalog.pg_user: usename usesysid:o usecreatedb:b usesuper:b userepl:b usebypassrls:b passwd valuntil:m useconfig:T
pg_catalog.pg_user_mapping: oid:o umuser:o umserver:o umoptions:T
pg_catalog.pg_views: schemaname viewname viewowner definition
"""
LETTERS = {column: letter for columns in relations().values() for column, letter in columns}  # by column, to guess types of parameters
