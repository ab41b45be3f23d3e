"""The REST API of operators, `/api/v1`; every path of it needs the bearer token.

Values are those of `service.operations` and `model`, as msgspec writes them; their schemas in
the OpenAPI document are made from the same types.
"""
